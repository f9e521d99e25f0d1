// Compares an operation of models on two devices.
#include <span>
#include <utility>

#include "core/conformance/device_check.hpp"
#include "core/conformance/operation_inputs.hpp"
#include "core/conformance/twins/twins.hpp"
#include "core/step/operation.hpp"

namespace trigram {
namespace {

constexpr float apart_by = 0x1p-4F;

/// An operation on a device, with memory for one trial.
class Computer {
 public:
  Computer(TriedDevice& on, const std::string& spec, const TensorShapes& shapes)
      : timeline_([] { return 0.0; }, false),
        device_(on.make(timeline_)),
        operation_(device_->make_operation(spec)),
        applied_(*device_, spec, shapes) {
    const std::vector<OperationInput> named = operation_->inputs();
    const std::int64_t positions = operation_->shapes(shapes).positions;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      inputs_.push_back(allocated(shapes[i]));
      if (shapes[i].dtype != DType::f32)
        device_->upload(positions_of(shapes[i], positions, 11 + i), inputs_[i]);
      else
        put(inputs_[i], named[i].compared ? values_apart(shapes[i].count(), apart_by, 11 + i)
                                          : values_of(shapes[i].count(), 11 + i));
    }
    for (const TensorShape& shape : applied_.outputs()) outputs_.push_back(allocated(shape));
    for (const TensorShape& shape : applied_.saved()) saved_.push_back(allocated(shape));
    scratch_ = device_->allocate(applied_.scratch());
  }

  Results run() {
    applied_.forward(*device_, {views(inputs_), views(outputs_), views(saved_), scratch_});
    keep("output", outputs_);
    keep("saved tensor", saved_);
    differentiate();
    if (operation_->in_place()) in_place();
    return std::move(results_);
  }

 private:
  OwnedBuffer allocated(const TensorShape& shape) { return device_->allocate(Shape::of(shape.count(), shape.dtype)); }
  void put(Buffer to, const std::vector<float>& values) { device_->upload(std::as_bytes(std::span(values)), to); }
  static std::vector<Buffer> views(const std::vector<OwnedBuffer>& owned) { return {owned.begin(), owned.end()}; }
  void keep(const std::string& name, const std::vector<OwnedBuffer>& tensors) {
    for (std::size_t i = 0; i < tensors.size(); ++i)
      results_.push_back(result_of(*device_, name + " " + std::to_string(i), tensors[i]));
  }

  /// All gradients that are computed, in one call.
  void differentiate() {
    std::vector<OwnedBuffer> slopes, found;
    for (const TensorShape& shape : applied_.outputs()) {
      slopes.push_back(allocated(shape));
      put(slopes.back(), values_of(shape.count(), 31 + slopes.size()));
    }
    std::vector<Buffer> wanted(inputs_.size());
    std::vector<std::string> names;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const OperationInput named = operation_->inputs()[i];
      if (named.gradient != InputGradient::computed) continue;
      found.push_back(allocated(applied_.inputs()[i]));
      names.push_back("the gradient of " + named.name);
      wanted[i] = found.back();
    }
    if (found.empty()) return;
    applied_.backward(*device_, {views(inputs_), views(outputs_), views(saved_), views(slopes), wanted, scratch_});
    for (std::size_t i = 0; i < found.size(); ++i) results_.push_back(result_of(*device_, names[i], found[i]));
  }

  void in_place() {
    std::vector<Buffer> outputs = views(outputs_), saved = views(saved_);
    (saved.empty() ? outputs : saved)[0] = inputs_[0];
    applied_.forward(*device_, {views(inputs_), outputs, saved, scratch_});
    results_.push_back(result_of(*device_, "what is computed in place", inputs_[0]));
  }

  Timeline timeline_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Operation> operation_;
  AppliedOperation applied_;
  std::vector<OwnedBuffer> inputs_, outputs_, saved_;
  OwnedBuffer scratch_;
  Results results_;
};

}  // namespace

std::vector<ComparedTrial> compare_operation(const std::string& spec, TriedDevice& tested, TriedDevice& reference) {
  Timeline timeline([] { return 0.0; }, false);
  const std::vector<TensorShapes> trials = reference.make(timeline)->make_operation(spec)->trials();
  std::vector<ComparedTrial> all;
  for (const TensorShapes& shapes : trials) {
    std::string inputs;
    for (const TensorShape& shape : shapes) inputs += (inputs.empty() ? "" : ", ") + shape.text();
    Twins twins(Spec::parse(spec).name, tested, reference);
    const TwinWork work = [&](TriedDevice& on) { return Computer(on, spec, shapes).run(); };
    const std::vector<Violation> found = twins.compare(inputs, work, Alike::last_bits);
    all.push_back({inputs, twins.difference(), found});
    if (!found.empty()) break;
  }
  return all;
}

}  // namespace trigram
