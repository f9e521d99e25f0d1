#include "core/bucket.hpp"

#include "core/error.hpp"

namespace trigram {
namespace {

std::int64_t padded(std::int64_t count, std::int64_t alignment) {
  return (count + alignment - 1) / alignment * alignment;
}

void close(BucketPlan::Planned& bucket, const BucketOptions& options) {
  bucket.shape.count = padded(bucket.shape.count, options.alignment);
  bucket.shape.modelled_count = padded(bucket.shape.modelled_count, options.alignment);
}

/// Runs of parameters with equal constants, in the order of the bucket.
std::vector<ParameterGroup> groups_of(const BucketPlan::Planned& bucket, const std::vector<Parameter>& parameters) {
  std::vector<ParameterGroup> groups;
  for (const BucketPlan::Entry& entry : bucket.entries) {
    const Parameter& parameter = parameters[static_cast<std::size_t>(entry.parameter)];
    if (groups.empty() || groups.back().decays != parameter.decays) {
      groups.push_back({entry.offset, 0, 0, parameter.decays});
    }
    groups.back().count += parameter.count;
    groups.back().modelled_count += parameter.modelled_count;
  }
  return groups;
}

}  // namespace

BucketPlan plan_buckets(const std::vector<Parameter>& parameters, const BucketOptions& options, bool phantom) {
  require(options.bytes >= 0, "a bucket size of " + std::to_string(options.bytes) + " bytes is negative");
  require(options.alignment >= 1, "a bucket alignment of " + std::to_string(options.alignment) + " is not positive");
  BucketPlan plan;
  bool open = false;
  for (int i = static_cast<int>(parameters.size()) - 1; i >= 0; --i) {
    const Parameter& parameter = parameters[static_cast<std::size_t>(i)];
    if (open && plan.buckets.back().shape.dtype != parameter.dtype) {
      close(plan.buckets.back(), options);
      open = false;
    }
    if (!open) plan.buckets.push_back({{}, {0, parameter.dtype, 0, phantom}, parameter.layer});
    BucketPlan::Planned& bucket = plan.buckets.back();
    bucket.entries.push_back({i, bucket.shape.count});
    bucket.shape.count += parameter.count;
    bucket.shape.modelled_count += parameter.modelled_count;
    bucket.first_layer = parameter.layer;
    open = bucket.shape.modelled_count * size_of(bucket.shape.dtype) < options.bytes;
    if (!open) close(bucket, options);
  }
  if (open) close(plan.buckets.back(), options);
  return plan;
}

BucketStore::BucketStore(Device& device, const std::vector<Parameter>& parameters, const BucketPlan& plan)
    : views_(parameters.size()) {
  for (const BucketPlan::Planned& planned : plan.buckets) {
    const Buffer gradients = memory_.emplace_back(device.allocate(planned.shape));
    const Buffer weights = memory_.emplace_back(device.allocate(planned.shape));
    buckets_.push_back(
        {static_cast<int>(buckets_.size()), gradients, weights, groups_of(planned, parameters), planned.first_layer});
    for (const BucketPlan::Entry& entry : planned.entries) {
      const auto index = static_cast<std::size_t>(entry.parameter);
      const auto view = [&](Buffer whole) {
        return whole.slice(entry.offset, parameters[index].count, parameters[index].modelled_count);
      };
      views_[index] = {view(weights), view(gradients)};
    }
  }
}

}  // namespace trigram
