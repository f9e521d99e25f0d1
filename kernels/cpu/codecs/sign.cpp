// sign on host memory.
#include "kernels/codecs/sign.hpp"

#include "kernels/cpu/codecs/codec.hpp"

namespace trigram {
namespace {

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

const Codecs::Registration registration("cpu/sign", SignModel::description(),
                                        [](Params&) { return std::make_unique<Sign>(); });

}  // namespace
}  // namespace trigram
