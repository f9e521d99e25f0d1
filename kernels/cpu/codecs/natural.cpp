// natural on host memory.
#include "kernels/codecs/natural.hpp"

#include <algorithm>

#include "core/values/random.hpp"
#include "kernels/cpu/codecs/codec.hpp"
#include "kernels/cpu/philox_words.hpp"

namespace trigram {
namespace {

class Natural final : public CpuCodec<Natural, NaturalModel> {
 public:
  void encode_values(Instructions instructions, const float* values, std::uint8_t* frame, std::int64_t count,
                     const Key& key) const {
    constexpr std::int64_t tile = 768;
    static_assert(tile % philox_words_at_once == 0 && tile % 8 == 0);
    const PhiloxStream stream{Philox(key)};
    std::fill_n(frame + count, (count + 7) / 8, std::uint8_t{0});
    for (std::int64_t begin = 0; begin < count; begin += tile) {
      const std::int64_t end = std::min(count, begin + tile);
      std::uint32_t words[tile];
      philox_words(instructions, stream, static_cast<std::uint64_t>(begin / 4), (end - begin + 3) / 4, words);
      for (std::int64_t i = begin; i < end; ++i) {
        frame[i] = static_cast<std::uint8_t>(natural_exponent(values[i], words[i - begin]));
        const std::uint32_t sign = natural_sign(values[i]) << static_cast<std::uint32_t>(i % 8);
        frame[count + i / 8] = static_cast<std::uint8_t>(frame[count + i / 8] | sign);
      }
    }
  }

  template <class Sink>
  void decode_values(Instructions instructions, const std::uint8_t* frame, float* values, std::int64_t count,
                     const Key&, const Sink& sink) const {
    const std::uint8_t* const signs = frame + count;
    vectorised(instructions, [=]() TRIGRAM_INLINE {
      for (std::int64_t i = 0; i < count; ++i) {
        const std::uint32_t negative = std::uint32_t{signs[i / 8]} >> static_cast<std::uint32_t>(i % 8) & 1U;
        sink(natural_value(frame[i], negative), values[i]);
      }
    });
  }
};

const Codecs::Registration registration("cpu/natural", NaturalModel::description(),
                                        [](Params&) { return std::make_unique<Natural>(); });

}  // namespace
}  // namespace trigram
