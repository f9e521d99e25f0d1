// Loss and accuracy of a network at given weights.
#pragma once

#include <vector>

#include "core/device.hpp"
#include "experiments/workloads/data/dataset.hpp"
#include "experiments/workloads/network.hpp"

namespace trigram {

/// What a network is worth on some samples.
struct NetworkScore {
  double mean_loss = 0;  ///< mean cross-entropy
  double accuracy = 0;   ///< in [0, 1]
};

/// Scores samples [begin, end) in batches on `device`, without simulated time. Weights that are not finite give a loss
/// of NaN and an accuracy of 0: a model that has diverged gets nothing right.
NetworkScore network_score(Device& device, const Network& network, const std::vector<std::vector<float>>& weights,
                           const Samples& samples, std::int64_t begin, std::int64_t end);

}  // namespace trigram
