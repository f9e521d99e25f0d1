#include "core/optimizers/adam_family.hpp"

#include "core/error.hpp"

namespace trigram {
namespace {

float in_range(Params& params, const char* key, double fallback, double limit, const char* description) {
  const double value = params.get(key, fallback, description);
  require(value >= 0 && value < limit,
          params.owner() + ": " + key + "=" + number_text(value) + " is not in [0, " + number_text(limit) + ")");
  return static_cast<float>(value);
}

}  // namespace

AdamFamily::AdamFamily(Params& params, double weight_decay, bool decoupled) {
  constants_.beta1 = in_range(params, "beta1", 0.9, 1, "share of the first moment that is kept");
  constants_.beta2 = in_range(params, "beta2", 0.999, 1, "share of the second moment that is kept");
  constants_.epsilon = in_range(params, "epsilon", 1e-8, 1, "added to the root of the second moment");
  constants_.weight_decay = in_range(params, "weight_decay", weight_decay, 1e9,
                                     decoupled ? "decay of weights" : "L2 penalty added to the gradient");
  constants_.decoupled = decoupled;
}

void AdamFamily::setup(Worker& worker, std::span<Bucket> buckets) {
  steps_.assign(buckets.size(), 0);
  for (const Bucket& bucket : buckets) {
    first_.push_back(worker.device.allocate(bucket.weights.shape()));
    second_.push_back(worker.device.allocate(bucket.weights.shape()));
  }
}

void AdamFamily::update(Worker& worker, Bucket& bucket) {
  const auto index = static_cast<std::size_t>(bucket.index);
  AdamConstants constants = constants_;
  constants.learning_rate = static_cast<float>(worker.learning_rate);
  constants.step = ++steps_[index];
  std::vector<AdamTensor> tensors;
  for (const ParameterGroup& group : bucket.groups) {
    tensors.push_back({group.of(bucket.weights), group.of(bucket.gradients), group.of(first_[index]),
                       group.of(second_[index]), group.decays});
  }
  const Timeline::Scope scope(worker.timeline, Activity::compute, "update");
  worker.device.adam(tensors, constants);
}

}  // namespace trigram
