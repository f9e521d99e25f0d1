// Shards whose classes are out of balance.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace trigram {

/// Deals every sample to exactly one of `ranks` shards: each class is shuffled and cut by proportions drawn from
/// Dirichlet(concentration, …, concentration) over the ranks. Small concentrations give each rank few classes and may
/// leave shards empty; large ones approach an even split. Keyed by `seed`, the same on every rank.
/// Yurochkin et al., Bayesian nonparametric federated learning of neural networks, ICML 2019, arXiv:1905.12022.
std::vector<std::vector<std::int64_t>> label_partition(std::span<const std::int32_t> labels, int classes, int ranks,
                                                       double concentration, std::uint64_t seed);

}  // namespace trigram
