// A ring whose ranks send chunks on slice by slice, edge by edge, as a closed form cannot be mistaken about it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace trigram::testing {

/// A ring whose ranks send `rounds` chunks of so many slices each, edge by edge: a slice of a round leaves when that of
/// the round before has come and the edge is free, takes its part of `seconds[edge]`, a chunk's time, and then the
/// edge's latency. The time of the last arrival.
inline double ring_by_slices(const std::vector<double>& latency, const std::vector<double>& seconds, int rounds,
                             std::size_t slices = 512) {
  const std::size_t n = latency.size();
  const auto all = static_cast<double>(slices);
  std::vector<std::vector<double>> here(n, std::vector<double>(slices, 0.0));
  std::vector<double> free(n, 0.0);
  double last = 0;
  for (int round = 0; round < rounds; ++round) {
    std::vector<std::vector<double>> there(n, std::vector<double>(slices));
    for (std::size_t rank = 0; rank < n; ++rank) {
      for (std::size_t slice = 0; slice < slices; ++slice) {
        free[rank] = std::max(free[rank], here[rank][slice]) + seconds[rank] / all;
        there[(rank + 1) % n][slice] = free[rank] + latency[rank];
        last = std::max(last, free[rank] + latency[rank]);
      }
    }
    here = there;
  }
  return last;
}

}  // namespace trigram::testing
