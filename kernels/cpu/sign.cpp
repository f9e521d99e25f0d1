// The sign alone: x̂_i = 1, or −1 where x_i < 0; 0, −0 and NaN are 1. Servers that add such frames and encode the sum
// take the vote of the majority, 1 where it is split.
//   neither unbiased nor a contraction: what it is off by has no bound, since the length of x is lost
// Frame: one bit an element, 1 for x < 0, lowest bit first: ⌈d/8⌉ bytes; of an empty vector none. (Bernstein et al.,
// ICML 2018, arXiv:1802.04434.)
#include <limits>

#include "kernels/cpu/codec.hpp"

namespace trigram {
namespace {

class SignModel : public Codec {
 public:
  std::int64_t encoded_bytes(std::int64_t count) const override { return (count + 7) / 8; }
  CodecProperties properties(std::int64_t) const override { return {.bound = std::numeric_limits<double>::infinity()}; }
  CodecTraffic traffic(std::int64_t count) const override {
    return CodecTraffic::dense(4 * count + encoded_bytes(count), encoded_bytes(count), count);
  }
};

class Sign final : public CpuCodec<Sign, SignModel> {
 public:
  void encode_values(Instructions instructions, const float* values, std::uint8_t* frame, std::int64_t count,
                     const Key&) const {
    vectorised(instructions, [=]() TRIGRAM_INLINE {
      for (std::int64_t begin = 0; begin < count; begin += 8) {
        std::uint32_t bits = 0;
        for (std::int64_t i = begin; i < count && i < begin + 8; ++i)
          bits |= (values[i] < 0.0F ? 1U : 0U) << static_cast<std::uint32_t>(i - begin);
        frame[begin / 8] = static_cast<std::uint8_t>(bits);
      }
    });
  }

  template <class Sink>
  void decode_values(Instructions instructions, const std::uint8_t* frame, float* values, std::int64_t count,
                     const Key&, const Sink& sink) const {
    vectorised(instructions, [=]() TRIGRAM_INLINE {
      for (std::int64_t i = 0; i < count; ++i) {
        const std::uint32_t negative = std::uint32_t{frame[i / 8]} >> static_cast<std::uint32_t>(i % 8) & 1U;
        sink(negative != 0 ? -1.0F : 1.0F, values[i]);
      }
    });
  }
};

const Codecs::Registration registration("cpu/sign",
                                        {"the sign alone, for votes",
                                         "Bernstein et al., signSGD, ICML 2018, arXiv:1802.04434"},
                                        [](Params&) { return std::make_unique<Sign>(); });

}  // namespace
}  // namespace trigram
