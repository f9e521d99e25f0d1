// minmax_uint8 on host memory: one pass for the range, one for the levels.
#include "kernels/codecs/minmax_uint8.hpp"

#include <algorithm>

#include "kernels/cpu/codecs/codec.hpp"
#include "kernels/cpu/codecs/minmax_range.hpp"

namespace trigram {
namespace {

class MinMaxUint8 final : public CpuCodec<MinMaxUint8, MinMaxUint8Model> {
 public:
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

const Codecs::Registration registration("cpu/minmax_uint8", MinMaxUint8Model::description(),
                                        [](Params&) { return std::make_unique<MinMaxUint8>(); });

}  // namespace
}  // namespace trigram
