#include "core/optimizers/sgd_family.hpp"

#include "core/values/error.hpp"

namespace trigram {
namespace {

float fraction(Params& params, const char* key, double fallback, const char* description) {
  const double value = params.get(key, fallback, description);
  require(value >= 0 && value < 1, params.owner() + ": " + key + "=" + number_text(value) + " is not in [0, 1)");
  return static_cast<float>(value);
}

}  // namespace

SgdFamily::SgdFamily(Params& params, double momentum, bool nesterov) {
  constants_.nesterov = nesterov;
  if (momentum > 0) {
    constants_.momentum = fraction(params, "momentum", momentum, "share of the velocity that is kept");
    if (!nesterov)
      constants_.dampening = fraction(params, "dampening", 0, "share of the gradient that velocity leaves out");
  }
  const double weight_decay = params.get("weight_decay", 0.0, "L2 penalty added to the gradient", {0, 1e9});
  constants_.weight_decay = static_cast<float>(weight_decay);
}

void SgdFamily::setup(Worker& worker, std::span<const Bucket> buckets) {
  started_.assign(entries_for(buckets), 0);
  if (constants_.momentum != 0) velocity_.allocate(worker, buckets);
}

void SgdFamily::update(Worker& worker, const Bucket& bucket, double learning_rate) {
  char& started = started_[static_cast<std::size_t>(bucket.index)];
  SgdConstants constants = constants_;
  constants.learning_rate = static_cast<float>(learning_rate);
  constants.first_step = started == 0;
  std::vector<SgdTensor> tensors;
  tensors.reserve(bucket.groups.size());
  for (const ParameterGroup& group : bucket.groups) {
    tensors.push_back({group.of(bucket.weights), group.of(bucket.gradients),
                       velocity_.empty() ? Buffer() : group.of(velocity_[bucket.index]), group.decays});
  }
  const Timeline::Scope scope(worker.timeline, Activity::compute, "update");
  worker.device.sgd(tensors, constants);
  started = 1;
}

std::vector<std::string> SgdFamily::state_names() const {
  return velocity_.empty() ? std::vector<std::string>{} : std::vector<std::string>{"velocity"};
}

Buffer SgdFamily::state(const std::string& name, int bucket) const {
  if (name == "velocity" && !velocity_.empty()) return velocity_[bucket];
  throw_no_state(name);
}

void SgdFamily::list_state(State& state) {
  velocity_.list_state(state, "velocity");
  state.values("started", started_, Fate::own);
}

}  // namespace trigram
