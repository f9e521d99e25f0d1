// What communication costs a rank, by formula: rounds and bytes that metering must find again.
#pragma once

#include <cstdint>

namespace trigram {

/// What one rank does in one step: calls of exchange that it takes part in, and bytes that it sends.
struct Cost {
  std::int64_t rounds = 0;
  std::int64_t bytes = 0;

  friend Cost operator+(Cost a, Cost b) { return {a.rounds + b.rounds, a.bytes + b.bytes}; }
  Cost& operator+=(Cost other) { return *this = *this + other; }
  friend bool operator==(const Cost&, const Cost&) = default;
};

/// Collectives of a group of `ranks` on `count` elements of `element_bytes`, seen from `rank` (see Communicator).
Cost reduce_scatter_cost(int ranks, int rank, std::int64_t count, std::int64_t element_bytes);
Cost all_gather_cost(int ranks, int rank, std::int64_t count, std::int64_t element_bytes);
Cost broadcast_cost(int ranks, int rank, std::int64_t bytes, int root);
Cost reduce_cost(int ranks, int rank, std::int64_t bytes, int root);
Cost barrier_cost(int ranks, int rank);

}  // namespace trigram
