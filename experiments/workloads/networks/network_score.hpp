// Loss and accuracy of a network at given weights.
#pragma once

#include <vector>

#include "core/device/device.hpp"
#include "experiments/workloads/data/dataset.hpp"
#include "experiments/workloads/networks/network.hpp"

namespace trigram {

/// What a network is worth on some samples.
struct NetworkScore {
  double mean_loss = 0;  ///< mean cross-entropy
  double accuracy = 0;   ///< in [0, 1]
};

/// A run of samples of a data set, of which there is one at least.
struct SampleRange {
  const Samples& samples;
  std::int64_t begin, end;
};

/// Scores a run of samples in batches on `device`, without simulated time, by a network that nobody has used.
/// Statistics of batch normalisation are those of up to 1,024 samples of `training`, spread evenly, at these very
/// weights: the mean of several ranks' weights is a model that no rank has run, so that running averages of theirs
/// would be another's. Weights that are not finite give a loss of NaN and an accuracy of 0: a model that has diverged
/// gets nothing right.
NetworkScore network_score(Device& device, Network& network, const std::vector<std::vector<float>>& weights,
                           const SampleRange& training, const SampleRange& scored);

}  // namespace trigram
