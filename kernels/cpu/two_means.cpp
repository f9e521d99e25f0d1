// The sign with two scales: elements below 0 become their mean, all others theirs, as in 1-bit SGD, which has a pair a
// column of a matrix where this has one a vector. No two values for the signs have a smaller error.
//   ‖x − x̂‖² = ‖x‖² − (Σ₊x)²/d₊ − (Σ₋x)²/d₋, a contraction that loses no more than one_bit: ≤ (1 − 1/d)‖x‖²
// Frame: the mean of those from 0 on and of those below as f32, 0 where there are none, then one bit an element, 1 for
// x < 0, lowest bit first: 8 + ⌈d/8⌉ bytes; of an empty vector none. A NaN or an infinity makes its mean so; a NaN is
// none below 0. (Seide et al., Interspeech 2014.)
#include "kernels/cpu/codec.hpp"

namespace trigram {
namespace {

class TwoMeansModel : public Codec {
 public:
  static constexpr std::int64_t header_bytes = 8;

  std::int64_t encoded_bytes(std::int64_t count) const override {
    return count == 0 ? 0 : header_bytes + (count + 7) / 8;
  }
  CodecProperties properties(std::int64_t count) const override {
    return {.contraction = true, .bound = count == 0 ? 0.0 : 1.0 - 1.0 / static_cast<double>(count)};
  }
  CodecTraffic traffic(std::int64_t count) const override {
    return CodecTraffic::dense(4 * count + encoded_bytes(count), encoded_bytes(count), count);
  }
};

class TwoMeans final : public CpuCodec<TwoMeans, TwoMeansModel> {
 public:
  /// Sums are added in the order of elements, so that they are the same with any instructions.
  void encode_values(Instructions, const float* values, std::uint8_t* frame, std::int64_t count, const Key&) const {
    double sums[2] = {};
    std::int64_t counts[2] = {};
    for (std::int64_t begin = 0; begin < count; begin += 8) {
      std::uint32_t bits = 0;
      for (std::int64_t i = begin; i < count && i < begin + 8; ++i) {
        const std::uint32_t below = values[i] < 0.0F ? 1 : 0;
        sums[below] += static_cast<double>(values[i]);
        ++counts[below];
        bits |= below << static_cast<std::uint32_t>(i - begin);
      }
      frame[header_bytes + begin / 8] = static_cast<std::uint8_t>(bits);
    }
    for (const int side : {0, 1})
      put(frame + 4 * side,
          counts[side] == 0 ? 0.0F : static_cast<float>(sums[side] / static_cast<double>(counts[side])));
  }

  template <class Sink>
  void decode_values(Instructions instructions, const std::uint8_t* frame, float* values, std::int64_t count,
                     const Key&, const Sink& sink) const {
    const auto above = load<float>(frame), below = load<float>(frame + 4);
    const std::uint8_t* const bits = frame + header_bytes;
    vectorised(instructions, [=]() TRIGRAM_INLINE {
      for (std::int64_t i = 0; i < count; ++i) {
        const std::uint32_t negative = std::uint32_t{bits[i / 8]} >> static_cast<std::uint32_t>(i % 8) & 1U;
        sink(negative != 0 ? below : above, values[i]);
      }
    });
  }
};

const Codecs::Registration registration("cpu/two_means",
                                        {"the sign with two scales, the means of either side of 0",
                                         "Seide et al., 1-bit stochastic gradient descent, Interspeech 2014"},
                                        [](Params&) { return std::make_unique<TwoMeans>(); });

}  // namespace
}  // namespace trigram
