#include "core/optimizers/adam_family.hpp"

#include "core/values/error.hpp"

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

void AdamFamily::setup(Worker& worker, std::span<const Bucket> buckets) {
  steps_.assign(entries_for(buckets), 0);
  first_.allocate(worker, buckets);
  second_.allocate(worker, buckets);
}

void AdamFamily::update(Worker& worker, const Bucket& bucket, double learning_rate) {
  AdamConstants constants = constants_;
  constants.learning_rate = static_cast<float>(learning_rate);
  constants.step = ++steps_[static_cast<std::size_t>(bucket.index)];
  std::vector<AdamTensor> tensors;
  for (const ParameterGroup& group : bucket.groups) {
    tensors.push_back({group.of(bucket.weights), group.of(bucket.gradients), group.of(first_[bucket.index]),
                       group.of(second_[bucket.index]), group.decays});
  }
  const Timeline::Scope scope(worker.timeline, Activity::compute, "update");
  worker.device.adam(tensors, constants);
}

std::vector<std::string> AdamFamily::state_names() const { return {"first", "second"}; }

Buffer AdamFamily::state(const std::string& name, int bucket) const {
  if (name == "first") return first_[bucket];
  if (name == "second") return second_[bucket];
  throw_no_state(name);
}

void AdamFamily::list_state(State& state) {
  first_.list_state(state, "first");
  second_.list_state(state, "second");
  state.values("steps", steps_, Fate::own);
}

}  // namespace trigram
