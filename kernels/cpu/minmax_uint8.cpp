// Bagua's MinMaxUInt8 (Gan et al., VLDB 2021, arXiv:2107.01499): 256 levels between a vector's minimum and maximum, on
// a grid through 0.
//   s = 255 / (max − min + 1e-7),  U = rint(max·s),  L = U − 255
//   level = clamp(min(rint(x·s), U) − L, 0, 255),  x̂ = (level + L) / s
// Frame: min and max as f32, zeros up to byte 32, one byte an element, zeros up to a multiple of 32:
// 32 + 32·⌈d/32⌉ bytes. Biased; |x − x̂| ≤ (max − min + 1e-7)/510, and 0 stays 0 where min ≤ 0 ≤ max.
// Levels that Bagua's kernel lets wrap around are clamped. A vector with a NaN, an infinity or a range that f32 cannot
// hold has NaN as min and max and decodes to NaN. A constant so large that max·s overflows decodes exactly. Ranges far
// under 1e-7 use few levels, and vanish under 2e-10.
#include <algorithm>

#include "kernels/cpu/codec.hpp"
#include "kernels/cpu/minmax_range.hpp"

namespace trigram {
namespace {

constexpr std::int64_t header_bytes = 32;

std::int64_t payload_bytes(std::int64_t count) { return (count + 31) / 32 * 32; }

class MinMaxUint8 final : public CpuCodec<MinMaxUint8> {
 public:
  std::int64_t encoded_bytes(std::int64_t count) const override {
    return count == 0 ? 0 : header_bytes + payload_bytes(count);
  }
  CodecProperties properties(std::int64_t count) const override {
    const double bound = static_cast<double>(count) / 65025.0;
    return {.contraction = bound < 1, .bound = bound};
  }
  CodecTraffic traffic(std::int64_t count) const override {
    return {static_cast<double>(4 * count + 4 * count + encoded_bytes(count)),
            static_cast<double>(encoded_bytes(count) + 4 * count)};
  }

  void encode_values(Instructions instructions, const float* values, std::uint8_t* frame, std::int64_t count,
                     const Key&) const {
    const ValueRange range = value_range(instructions, values, count);
    put(frame, range.smallest);
    put(frame + 4, range.largest);
    std::fill(frame + 8, frame + header_bytes, std::uint8_t{0});
    std::uint8_t* levels = frame + header_bytes;
    const scalar::MinMaxGrid grid = scalar::minmax_grid(range.smallest, range.largest);
    if (grid.constant) {
      std::fill_n(levels, count, std::uint8_t{0});
    } else if (grid.small) {
      vectorised(instructions, [=]() TRIGRAM_INLINE {
        for (std::int64_t i = 0; i < count; ++i) levels[i] = scalar::minmax_small_level(values[i], grid);
      });
    } else {
      vectorised(instructions, [=]() TRIGRAM_INLINE {
        for (std::int64_t i = 0; i < count; ++i) levels[i] = scalar::minmax_level(values[i], grid);
      });
    }
    std::fill(levels + count, levels + payload_bytes(count), std::uint8_t{0});
  }

  template <class Sink>
  void decode_values(Instructions instructions, const std::uint8_t* frame, float* values, std::int64_t count,
                     const Key&, const Sink& sink) const {
    const auto largest = load<float>(frame + 4);
    const scalar::MinMaxGrid grid = scalar::minmax_grid(load<float>(frame), largest);
    const std::uint8_t* levels = frame + header_bytes;
    if (grid.constant) {
      for (std::int64_t i = 0; i < count; ++i) sink(largest, values[i]);
      return;
    }
    vectorised(instructions, [=]() TRIGRAM_INLINE {
      for (std::int64_t i = 0; i < count; ++i) sink(scalar::minmax_value(levels[i], grid), values[i]);
    });
  }
};

const Codecs::Registration registration("cpu/minmax_uint8",
                                        {"256 levels between minimum and maximum, Bagua's frame",
                                         "Gan et al., Bagua, VLDB 2021, arXiv:2107.01499"},
                                        [](Params&) { return std::make_unique<MinMaxUint8>(); });

}  // namespace
}  // namespace trigram
