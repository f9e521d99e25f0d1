// The sign alone: x̂_i = 1, or −1 where x_i < 0; 0, −0 and NaN are 1. Servers that add such frames and encode the sum
// take the vote of the majority, 1 where it is split.
//   neither unbiased nor a contraction: what it is off by has no bound, since the length of x is lost
// Frame: one bit an element, 1 for x < 0, lowest bit first: ⌈d/8⌉ bytes; of an empty vector none. (Bernstein et al.,
// ICML 2018, arXiv:1802.04434.)
#pragma once

#include <limits>

#include "core/device/codec.hpp"

namespace trigram {

/// Sizes of the frame.
class SignModel : public Codec {
 public:
  static Description description() {
    return {"the sign alone, for votes", "Bernstein et al., signSGD, ICML 2018, arXiv:1802.04434"};
  }

  std::int64_t encoded_bytes(std::int64_t count) const override { return (count + 7) / 8; }
  CodecProperties properties(std::int64_t) const override { return {.bound = std::numeric_limits<double>::infinity()}; }
  CodecTraffic traffic(std::int64_t count) const override {
    return CodecTraffic::dense(4 * count + encoded_bytes(count), encoded_bytes(count), count);
  }
};

}  // namespace trigram
