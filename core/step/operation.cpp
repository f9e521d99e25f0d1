#include "core/step/operation.hpp"

#include <algorithm>
#include <utility>

#include "core/registry/by_device.hpp"
#include "core/values/error.hpp"

namespace trigram {
namespace {

constexpr std::int64_t most_elements = std::int64_t{1} << 60U;

/// "images [2, 3, 8, 8] of f32 and filters [4, 3, 5, 5] of f32"
std::string words_of(const std::vector<OperationInput>& named, const TensorShapes& shapes) {
  std::string text;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    text += (i == 0 ? "" : " and ") + (i < named.size() ? named[i].name + " " : "") + shapes[i].text() + " of " +
            std::string(name_of(shapes[i].dtype));
  }
  return text;
}

bool any_phantom(const std::vector<Buffer>& buffers) {
  return std::any_of(buffers.begin(), buffers.end(), [](const Buffer& buffer) { return buffer.is_phantom(); });
}

void charge(Device& device, const KernelCost& work) {
  if (work.flops != 0 || work.bytes != 0) device.charge(work);
}

}  // namespace

std::int64_t TensorShape::count() const {
  std::int64_t product = 1;
  for (const std::int64_t length : dimensions) {
    require(
        length >= 0 && (length == 0 || product <= most_elements / length), "a tensor ", [this] { return text(); },
        " is beyond any memory");
    product *= length;
  }
  return product;
}

std::string TensorShape::text() const {
  std::string words;
  for (const std::int64_t length : dimensions) words += (words.empty() ? "" : ", ") + std::to_string(length);
  return "[" + words + "]";
}

// Here, since a device knows of no operation.
std::unique_ptr<Operation> Device::make_operation(std::string_view spec) const {
  return make_on<Operation>(kind(), spec);
}

AppliedOperation::AppliedOperation(const Device& device, const std::string& spec, TensorShapes inputs,
                                   TensorShapes modelled)
    : AppliedOperation(Spec::parse(spec).name, device.make_operation(spec), std::move(inputs), modelled) {
  kind_ = device.kind();
}

AppliedOperation::AppliedOperation(const std::string& spec, TensorShapes inputs)
    : AppliedOperation(Spec::parse(spec).name, make_on_any<Operation>(spec), std::move(inputs), {}) {}

AppliedOperation::AppliedOperation(std::string name, std::shared_ptr<const Operation> operation, TensorShapes inputs,
                                   const TensorShapes& modelled)
    : name_(name_of_owner(Operation::registry_kind, name)),
      operation_(std::move(operation)),
      inputs_(std::move(inputs)),
      named_(operation_->inputs()) {
  const auto asked = [&] { return name_ + " on " + words_of(named_, inputs_); };
  require(inputs_.size() == named_.size(), asked, ": it takes ", named_.size(), " inputs");
  try {
    for (const TensorShape& input : inputs_) static_cast<void>(input.count());
    shapes_ = operation_->shapes(inputs_);
    work_ = operation_->work(modelled.empty() ? inputs_ : modelled);
  } catch (const UsageError& refusal) {
    throw UsageError(asked() + ": " + refusal.what());
  }
}

void AppliedOperation::forward(Device& device, const OperationForward& memory) const {
  require_on(device, "forward", memory.scratch);
  require_fit(device, "input", memory.inputs, inputs_);
  require_fit(device, "output", memory.outputs, shapes_.outputs);
  require_fit(device, "saved tensor", memory.saved, shapes_.saved);
  charge(device, work_.forward);
  if (any_phantom(memory.inputs) || any_phantom(memory.outputs)) return;
  operation_->compute(device.kernels(), inputs_, memory);
}

void AppliedOperation::backward(Device& device, const OperationBackward& memory) const {
  require_on(device, "backward", memory.scratch);
  require_fit(device, "input", memory.inputs, inputs_);
  require_fit(device, "output", memory.outputs, shapes_.outputs);
  require_fit(device, "saved tensor", memory.saved, shapes_.saved);
  require_fit(device, "output's gradient", memory.output_gradients, shapes_.outputs);
  if (!wants(device, memory.input_gradients)) return;
  if (any_phantom(memory.output_gradients) || any_phantom(memory.input_gradients)) return;
  operation_->differentiate(device.kernels(), inputs_, memory);
}

void AppliedOperation::require_on(const Device& device, const char* call, const Buffer& scratch) const {
  ensure(kind_ == device.kind(), name_, ": ", call, " on a device of kind ", device.kind(), ", but it was made for ",
         kind_.empty() ? "none" : kind_);
  ensure(scratch.is_phantom() || scratch.count() >= shapes_.scratch, name_, ": ", call, " needs a scratch of ",
         shapes_.scratch, " elements, got ", scratch.count());
}

void AppliedOperation::require_fit(const Device& device, const char* what, const std::vector<Buffer>& given,
                                   const TensorShapes& wanted) const {
  ensure(given.size() == wanted.size(), name_, " takes ", wanted.size(), " buffers as ", what, "s, got ", given.size());
  for (std::size_t i = 0; i < given.size(); ++i) require_fit(device, what, given[i], wanted[i]);
}

void AppliedOperation::require_fit(const Device& device, const char* what, const Buffer& given,
                                   const TensorShape& wanted) const {
  const bool fits = given.is_phantom() || given.count() == wanted.count();
  const auto where = [&] {
    const std::string place = device.timeline().where();
    return place.empty() ? name_ : place + ": " + name_;
  };
  ensure(
      fits && given.dtype() == wanted.dtype, where, ": ", what, " ", [&] { return wanted.text(); }, " of ",
      name_of(wanted.dtype), " is given ", given.count(), " elements of ", name_of(given.dtype()));
}

bool AppliedOperation::wants(Device& device, const std::vector<Buffer>& gradients) const {
  ensure(gradients.size() == inputs_.size(), name_, ": backward takes ", inputs_.size(), " gradients of inputs, got ",
         gradients.size());
  bool any = false;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (gradients[i].empty()) continue;
    ensure(named_[i].gradient == InputGradient::computed, name_, ": backward computes no gradient of its ",
           named_[i].name);
    require_fit(device, "input's gradient", gradients[i], inputs_[i]);
    charge(device, work_.backward[i]);
    any = true;
  }
  return any;
}

}  // namespace trigram
