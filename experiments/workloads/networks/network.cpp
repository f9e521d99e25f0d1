#include "experiments/workloads/networks/network.hpp"

#include <cmath>

#include "core/values/random.hpp"

namespace trigram {

std::vector<float> initial_weights(std::int64_t count, std::int64_t fan, std::uint64_t seed, int layer) {
  const auto bound = static_cast<float>(std::sqrt(6.0 / static_cast<double>(fan)));
  const Philox stream({.seed = seed, .bucket = layer, .phase = Phase::weights});
  std::vector<float> weights(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = bound * (2.0F * stream.uniform(i) - 1.0F);
  return weights;
}

}  // namespace trigram
