#include "core/step/bucket.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/values/error.hpp"
#include "core/values/quoted.hpp"

namespace trigram {
namespace {

std::int64_t padded(std::int64_t count, std::int64_t alignment) {
  return (count + alignment - 1) / alignment * alignment;
}

void close(BucketLayout& bucket, const BucketOptions& options) {
  bucket.shape.count = padded(bucket.shape.count, options.alignment);
  bucket.shape.modelled_count = padded(bucket.shape.modelled_count, options.alignment);
}

/// Runs of tensors with equal constants, in the order of the bucket.
std::vector<ParameterGroup> groups_of(const BucketLayout& bucket, const std::vector<Parameter>& parameters) {
  std::vector<ParameterGroup> groups;
  for (const Tensor& tensor : bucket.tensors) {
    const bool decays = parameters[static_cast<std::size_t>(tensor.parameter)].decays;
    if (groups.empty() || groups.back().decays != decays) groups.push_back({tensor.offset, 0, 0, decays});
    groups.back().count += tensor.count;
    groups.back().modelled_count += tensor.modelled_count;
  }
  return groups;
}

/// Elements [begin, end).
struct Elements {
  std::int64_t begin, end;

  std::int64_t length() const { return end - begin; }
  /// What lies in `other` too, counted from its begin.
  Elements within(const Elements& other) const {
    const std::int64_t first = std::clamp(begin, other.begin, other.end);
    return {first - other.begin, std::clamp(end, first, other.end) - other.begin};
  }
  static Elements of_part(std::int64_t count, int index, int parts) {
    return {chunk_begin(count, parts, index), chunk_begin(count, parts, index + 1)};
  }
};

/// Weights or gradients.
struct Half {
  Buffer ParameterView::*member;
  const char* name;
};

/// What a message calls it: "the weights of tensor 'a'".
std::string text_of(const Half& half, const Tensor& tensor) {
  return "the " + std::string(half.name) + " of tensor " + in_quotes(tensor.name);
}

void require_shape(const Buffer& given, const Tensor& tensor, const Half& half, DType dtype) {
  const auto what = [&] { return text_of(half, tensor); };
  require(!given.is_phantom(), what, " have no memory");
  require(given.dtype() == dtype, what, " are of ", name_of(given.dtype()), ", but the parameter is of ",
          name_of(dtype));
  require(given.count() == tensor.count, what, " are ", given.count(), " elements, but the parameter has ",
          tensor.count);
}

/// One buffer over a bucket's tensors where they are.
Buffer whole_of(const BucketLayout& planned, const std::vector<ParameterView>& memory, const Half& half) {
  const std::int64_t element = size_of(planned.shape.dtype);
  std::byte* begin = nullptr;
  const Tensor* before = nullptr;
  for (const Tensor& tensor : planned.tensors) {
    const Buffer& given = memory[static_cast<std::size_t>(tensor.parameter)].*half.member;
    require_shape(given, tensor, half, planned.shape.dtype);
    if (tensor.count == 0) continue;
    auto* address = static_cast<std::byte*>(given.raw());
    const auto what = [&] { return text_of(half, tensor); };
    require(reinterpret_cast<std::uintptr_t>(address) % static_cast<std::uintptr_t>(element) == 0, what,
            " begin at an address that is no multiple of ", element, " bytes, the size of ",
            name_of(planned.shape.dtype));
    if (before == nullptr) begin = address;
    require(
        address == begin + tensor.offset * element, what, " do not begin where ",
        [&] { return text_of(half, *before); }, " end; tensors of a bucket lie one behind the other");
    before = &tensor;
  }
  const Tensor* last = planned.tensors.empty() ? nullptr : &planned.tensors.back();
  const std::int64_t padding = last == nullptr ? 0 : planned.shape.count - last->offset - last->count;
  require(
      padding == 0, "behind tensor ", [&] { return in_quotes(last->name); }, " come ", padding,
      " elements of padding, for which there is no memory; use a bucket alignment of 1");
  return {begin, planned.shape};
}

}  // namespace

std::vector<std::int64_t> cycles_of_layers(std::span<const double> backward_seconds, double cycle) {
  constexpr double rounding = 1e-9;
  std::vector<std::int64_t> cycles(backward_seconds.size(), 0);
  double ended = 0;
  for (std::size_t layer = cycles.size(); cycle > 0 && layer-- > 0;) {
    ended += backward_seconds[layer];
    cycles[layer] = static_cast<std::int64_t>(std::ceil(ended / cycle - rounding));
  }
  return cycles;
}

BucketPlan plan_buckets(const std::vector<Parameter>& parameters, const BucketOptions& options, bool phantom,
                        std::span<const double> backward_seconds) {
  require(options.bytes >= 0, "a bucket size of " + std::to_string(options.bytes) + " bytes is negative");
  require(options.alignment >= 1, "a bucket alignment of " + std::to_string(options.alignment) + " is not positive");
  const std::vector<std::int64_t> cycles = cycles_of_layers(backward_seconds, options.cycle);
  const auto cycle_of = [&](int layer) { return cycles.empty() ? 0 : cycles[static_cast<std::size_t>(layer)]; };
  BucketPlan plan;
  bool open = false;
  for (int i = static_cast<int>(parameters.size()) - 1; i >= 0; --i) {
    const Parameter& parameter = parameters[static_cast<std::size_t>(i)];
    if (open && (plan.buckets.back().shape.dtype != parameter.dtype ||
                 cycle_of(plan.buckets.back().first_layer) != cycle_of(parameter.layer))) {
      close(plan.buckets.back(), options);
      open = false;
    }
    if (!open) plan.buckets.push_back({{0, parameter.dtype, 0, phantom}, {}, parameter.layer});
    BucketLayout& bucket = plan.buckets.back();
    bucket.tensors.push_back({i, parameter.name, bucket.shape.count, parameter.count, parameter.modelled_count,
                              parameter.dimensions, parameter.modelled_dimensions});
    bucket.shape.count += parameter.count;
    bucket.shape.modelled_count += parameter.modelled_count;
    bucket.first_layer = parameter.layer;
    open = bucket.shape.modelled_count * size_of(bucket.shape.dtype) < options.bytes;
    if (!open) close(bucket, options);
  }
  if (open) close(plan.buckets.back(), options);
  return plan;
}

Bucket Bucket::part(int which, int parts) const {
  Bucket part = along(gradients.chunk(which, parts));
  part.weights = weights.chunk(which, parts);
  part.groups.clear();
  const Elements real = Elements::of_part(weights.count(), which, parts);
  part.extent = {extent.begin + real.begin, extent.whole > 0 ? extent.whole : weights.count()};
  const Elements modelled = Elements::of_part(weights.modelled_count(), which, parts);
  std::int64_t modelled_offset = 0;
  for (const ParameterGroup& group : groups) {
    const Elements inside = Elements{group.offset, group.offset + group.count}.within(real);
    const Elements costs = Elements{modelled_offset, modelled_offset + group.modelled_count}.within(modelled);
    modelled_offset += group.modelled_count;
    if (inside.length() > 0 || costs.length() > 0)
      part.groups.push_back({inside.begin, inside.length(), costs.length(), group.decays});
  }
  return part;
}

Bucket Bucket::along(const Buffer& direction) const {
  Bucket other = *this;
  other.gradients = direction;
  return other;
}

BucketStore::BucketStore(Device& device, const std::vector<Parameter>& parameters, BucketPlan plan)
    : BucketStore(device, parameters, std::make_shared<const BucketPlan>(std::move(plan))) {}

BucketStore::BucketStore(Device& device, const std::vector<Parameter>& parameters,
                         std::shared_ptr<const BucketPlan> plan)
    : plan_(std::move(plan)), views_(parameters.size()) {
  for (const BucketLayout& planned : plan_->buckets) {
    const Buffer gradients = memory_.emplace_back(device.allocate(planned.shape));
    const Buffer weights = memory_.emplace_back(device.allocate(planned.shape));
    add(planned, parameters, gradients, weights);
    for (const Tensor& tensor : planned.tensors)
      views_[static_cast<std::size_t>(tensor.parameter)] = {tensor.of(weights), tensor.of(gradients)};
  }
}

BucketStore::BucketStore(const std::vector<Parameter>& parameters, BucketPlan plan, std::vector<ParameterView> memory)
    : plan_(std::make_shared<const BucketPlan>(std::move(plan))), views_(std::move(memory)) {
  require(views_.size() == parameters.size(), views_.size(), " tensors have memory, but there are ", parameters.size());
  for (const BucketLayout& planned : plan_->buckets) {
    const Buffer weights = whole_of(planned, views_, {&ParameterView::weights, "weights"});
    const Buffer gradients = whole_of(planned, views_, {&ParameterView::gradients, "gradients"});
    add(planned, parameters, gradients, weights);
  }
}

void BucketStore::add(const BucketLayout& planned, const std::vector<Parameter>& parameters, const Buffer& gradients,
                      const Buffer& weights) {
  buckets_.push_back({static_cast<int>(buckets_.size()), gradients, weights, groups_of(planned, parameters),
                      planned.tensors, planned.first_layer});
}

}  // namespace trigram
