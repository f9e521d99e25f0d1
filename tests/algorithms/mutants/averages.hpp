// What wrong algorithms that average in full precision declare.
#pragma once

#include "core/primitives/centralized.hpp"
#include "core/step/bucketwise.hpp"

namespace trigram {

/// Of synchronous means over all ranks.
inline constexpr Trigram averages = {Trigram::Synchrony::synchronous, Trigram::Precision::full,
                                     Trigram::Centrality::centralized};

/// What one mean of every bucket costs.
inline Cost cost_of_mean(const CostQuery& query) {
  return sum_over_buckets(query, [&](const Shape& bucket) { return centralized_full_precision_cost(query, bucket); });
}

}  // namespace trigram
