// two_means on host memory.
#include "kernels/codecs/two_means.hpp"

#include <bit>

#include "kernels/cpu/codecs/codec.hpp"
#include "kernels/cpu/tree_sum.hpp"

namespace trigram {
namespace {

class TwoMeans final : public CpuCodec<TwoMeans, TwoMeansModel> {
 public:
  void encode_values(Instructions, const float* values, std::uint8_t* frame, std::int64_t count, const Key&) const {
    std::int64_t below = 0;
    for (std::int64_t begin = 0; begin < count; begin += 8) {
      std::uint32_t bits = 0;
      for (std::int64_t i = begin; i < count && i < begin + 8; ++i)
        bits |= (values[i] < 0.0F ? 1U : 0U) << static_cast<std::uint32_t>(i - begin);
      below += std::popcount(bits);
      frame[header_bytes + begin / 8] = static_cast<std::uint8_t>(bits);
    }
    for (const bool side : {false, true}) {
      const double sum =
          tree_sum(count, [=](std::int64_t i) TRIGRAM_INLINE { return two_means_term(values[i], side); });
      put(frame + (side ? 4 : 0), two_means_mean(sum, side ? below : count - below));
    }
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

const Codecs::Registration registration("cpu/two_means", TwoMeansModel::description(),
                                        [](Params&) { return std::make_unique<TwoMeans>(); });

}  // namespace
}  // namespace trigram
