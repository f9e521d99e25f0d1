// Collectives that a cluster's fit has not seen, to be predicted by it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/lane/worker.hpp"
#include "experiments/measure/alpha_beta.hpp"

namespace trigram {

/// An operation of `trigram bench` on a buffer.
struct SecondProbe {
  const char* op;
  std::int64_t bytes;
};

/// Short, middle and long ones of what methods exchange by.
std::span<const SecondProbe> second_probes();

/// A rank's seconds, in the order iteration, probe. `phantom` where time is a model's.
std::vector<double> probe_again(RankRuntime& runtime, bool phantom);

/// Of each probe the median over iterations of the rank that took longest; amounts are bytes.
std::vector<TimedAmount> second_times(const std::vector<std::vector<double>>& ranks);

}  // namespace trigram
