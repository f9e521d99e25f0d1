// The one fixed tree of all sums and norms.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/block_sums.hpp"

namespace trigram {

/// Σ term(i) of one block of at most scalar::tree_block elements; term gives f64.
template <class Term>
TRIGRAM_RULE double tree_block_sum(std::int64_t count, const Term& term) {
  constexpr int lanes = scalar::tree_lanes;
  double sums[lanes] = {};
  const std::int64_t whole = count - count % lanes;
  for (std::int64_t i = 0; i < whole; i += lanes) {
    for (int lane = 0; lane < lanes; ++lane) sums[lane] += term(i + lane);
  }
  for (std::int64_t i = whole; i < count; ++i) sums[i - whole] += term(i);
  for (int half = lanes / 2; half > 0; half /= 2) {
    for (int lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
  }
  return sums[0];
}

/// Σ term(i) for i in [0, count) by the fixed tree of scalar.hpp.
template <class Term>
TRIGRAM_RULE double tree_sum(std::int64_t count, const Term& term) {
  if (count <= scalar::tree_block) return tree_block_sum(count, term);
  TreeSum sum;
  for (std::int64_t begin = 0; begin < count; begin += scalar::tree_block) {
    sum.add(tree_block_sum(
        std::min(scalar::tree_block, count - begin),
        [ begin, &term ](std::int64_t i) __attribute__((always_inline)) { return term(begin + i); }));
  }
  return sum.total();
}

}  // namespace trigram
