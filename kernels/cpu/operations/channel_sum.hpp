// Sums over a channel of images on host memory.
#pragma once

#include "kernels/cpu/tree_sum.hpp"
#include "kernels/operations/channels.hpp"

namespace trigram {

/// Σ term(i) over the elements i of one channel, in the order of channels.hpp; term gives f64.
template <class Term>
TRIGRAM_RULE double channel_sum(const Channels& images, std::int64_t channel, const Term& term) {
  double sums[Channels::sums] = {};
  for (std::int64_t n = 0; n < images.samples; ++n) {
    const std::int64_t begin = images.begin(n, channel);
    sums[n % Channels::sums] += tree_block_sum(
        images.places, [ begin, &term ](std::int64_t i) __attribute__((always_inline)) { return term(begin + i); });
  }
  for (int step = 1; step < Channels::sums; step *= 2) {
    for (int i = 0; i < Channels::sums; i += 2 * step) sums[i] += sums[i + step];
  }
  return sums[0];
}

/// body(i) for the elements i of one channel.
template <class Body>
TRIGRAM_RULE void over_channel(const Channels& images, std::int64_t channel, const Body& body) {
  for (std::int64_t n = 0; n < images.samples; ++n) {
    const std::int64_t begin = images.begin(n, channel);
    for (std::int64_t i = begin; i < begin + images.places; ++i) body(i);
  }
}

}  // namespace trigram
