// Rounds and bytes of the implementations of the collectives by exchange, by formula.
#include "core/values/cost.hpp"

#include <bit>

#include "core/values/buffer.hpp"

namespace trigram {

namespace {

/// A rank's place in a binomial tree of n places whose root is place 0: children are place + b for every power of two
/// b below the lowest bit of the place, as far as there are places.
std::int64_t binomial_children(int ranks, int place) {
  std::int64_t children = 0;
  for (int bit = 1; bit < ranks && (place & bit) == 0; bit *= 2) children += place + bit < ranks ? 1 : 0;
  return children;
}

int place_from_root(int ranks, int rank, int root) { return (rank - root + ranks) % ranks; }

/// n−1 rounds around the ring that send every chunk but `kept`.
Cost all_chunks_but(int kept, int ranks, std::int64_t count, std::int64_t element_bytes) {
  return {ranks - 1, (count - chunk_count(count, ranks, kept)) * element_bytes};
}

}  // namespace

// Rank r sends chunks r−1, r−2, …, r+1: all but its own.
Cost reduce_scatter_cost(int ranks, int rank, std::int64_t count, std::int64_t element_bytes) {
  return all_chunks_but(rank, ranks, count, element_bytes);
}

// Rank r sends chunks r, r−1, …, r+2: all but its successor's own.
Cost all_gather_cost(int ranks, int rank, std::int64_t count, std::int64_t element_bytes) {
  return all_chunks_but((rank + 1) % ranks, ranks, count, element_bytes);
}

// One round to hear from the parent, one for each child.
Cost broadcast_cost(int ranks, int rank, std::int64_t bytes, int root) {
  const int place = place_from_root(ranks, rank, root);
  const std::int64_t children = binomial_children(ranks, place);
  return {children + (place == 0 ? 0 : 1), children * bytes};
}

// One round to hear from each child, one to tell the parent.
Cost reduce_cost(int ranks, int rank, std::int64_t bytes, int root) {
  const int place = place_from_root(ranks, rank, root);
  const std::int64_t parent = place == 0 ? 0 : 1;
  return {binomial_children(ranks, place) + parent, parent * bytes};
}

// ⌈log₂ n⌉ rounds of empty messages.
Cost barrier_cost(int ranks, int) { return {std::bit_width(static_cast<unsigned>(ranks - 1)), 0}; }

}  // namespace trigram
