// Simulated clusters of one GPU a node for tests, and the time that operations take on them.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "core/values/error.hpp"
#include "tests/support/run_ranks.hpp"

namespace trigram::testing {

inline constexpr double alpha = 5e-6;       ///< seconds, of `flat` clusters
inline constexpr double beta = 1 / 12.5e9;  ///< seconds per byte, of `flat` clusters

/// `ranks` nodes of one GPU behind 100 Gbps NICs with 5 us; `more` are further parameters.
std::string flat(int ranks, const std::string& more = "");

/// A phantom of so many bytes.
Buffer phantom(std::int64_t bytes);

/// A place without ranks' differences: the simulated seconds of each operation, begun together, until the last rank
/// has ended it.
using Operation = std::function<void(RankRuntime&)>;
std::vector<double> durations(const std::string& backend, World world, const std::vector<Operation>& operations);
/// Of one, where the world's all-reduce is that of this name: by default the ring.
double duration(const std::string& backend, int ranks, const Operation& operation,
                const std::string& all_reduce = World().all_reduce);
/// Operations take as long in fidelity fluid as in exact, on as many ranks as the cluster has.
void expect_alike_in_both_fidelities(const std::string& cluster, const std::vector<Operation>& operations);

/// A run whose ranks return nothing.
Outcome simulate(const std::string& backend, int ranks, const Operation& operation);

/// The text of what a run throws as E; empty when it throws nothing, and another type's passes.
template <class E>
std::string failure(const std::string& backend, int ranks, const Operation& operation) {
  try {
    simulate(backend, ranks, operation);
  } catch (const E& error) {
    return error.what();
  }
  return "";
}

/// Operations on phantoms of so many bytes: an all-reduce, an all-to-all whose parts have as many, and what a hierarchy
/// of leaders makes of an all-reduce.
Operation all_reduce_of(std::int64_t bytes);
Operation all_to_all_of(std::int64_t bytes);
Operation by_leader_of(std::int64_t bytes);
/// Every rank sends so many bytes to the one that is `distance` behind it: two ranks to each other.
Operation shift_of(std::int64_t bytes, int distance = 1);
/// The last rank sends so many bytes to the first.
Operation last_to_first_of(std::int64_t bytes);
/// All ranks compute for so long.
Operation idle_for(double seconds);

/// Within `tolerance` of `expected`, relatively.
inline void expect_relative(double actual, double expected, double tolerance, const std::string& what = "") {
  EXPECT_NEAR(actual / expected, 1.0, tolerance) << what << ": " << actual << " s, not " << expected << " s";
}

}  // namespace trigram::testing
