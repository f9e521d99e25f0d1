// What one rank measures of a cluster, as bytes for the process that fits it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "experiments/measure/measured_cluster.hpp"

namespace trigram {

/// All probes of `samples.plan` on this rank, with codecs as `require_codecs` takes them.
std::vector<std::byte> measure_rank(RankRuntime& runtime, const ClusterSamples& samples,
                                    const std::string& codec_names);

/// The next rank's, in the order of ranks.
void add_rank(std::span<const std::byte> bytes, ClusterSamples& all);

/// Rounds of the same ranks and plan put behind each other, as if they had been one plan's. `sets` has one or more.
ClusterSamples pooled(const std::vector<ClusterSamples>& sets);

}  // namespace trigram
