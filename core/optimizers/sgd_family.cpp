#include "core/optimizers/sgd_family.hpp"

#include "core/error.hpp"

namespace trigram {
namespace {

float fraction(Params& params, const char* key, double fallback, const char* description) {
  const double value = params.get(key, fallback, description);
  require(value >= 0 && value < 1, params.owner() + ": " + key + "=" + std::to_string(value) + " is not in [0, 1)");
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
  weight_decay_ = static_cast<float>(params.get("weight_decay", 0.0, "L2 penalty added to the gradient"));
  require(weight_decay_ >= 0, params.owner() + ": weight_decay=" + std::to_string(weight_decay_) + " is negative");
}

void SgdFamily::setup(Worker& worker, std::span<Bucket> buckets) {
  started_.assign(buckets.size(), false);
  if (constants_.momentum == 0) return;
  for (const Bucket& bucket : buckets) velocity_.push_back(worker.device.allocate(bucket.weights.shape()));
}

void SgdFamily::update(Worker& worker, Bucket& bucket) {
  const auto index = static_cast<std::size_t>(bucket.index);
  SgdConstants constants = constants_;
  constants.learning_rate = static_cast<float>(worker.learning_rate);
  constants.first_step = !started_[index];
  worker.device.fused(Activity::compute, "update", [&] {
    for (const ParameterGroup& group : bucket.groups) {
      const auto part = [&](const Buffer& whole) {
        return whole.slice(group.offset, group.count, group.modelled_count);
      };
      constants.weight_decay = group.decays ? weight_decay_ : 0;
      worker.device.sgd(part(bucket.weights), part(bucket.gradients),
                        velocity_.empty() ? Buffer() : part(velocity_[index]), constants);
    }
  });
  started_[index] = true;
}

}  // namespace trigram
