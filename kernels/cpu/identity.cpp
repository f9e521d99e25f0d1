// Nothing lost: the reference that compression is compared with, through the same path. Frame: f32 as they are,
// 4 bytes an element.
#include "kernels/cpu/codec.hpp"

namespace trigram {
namespace {

class IdentityCodec final : public CpuCodec<IdentityCodec> {
 public:
  std::int64_t encoded_bytes(std::int64_t count) const override { return 4 * count; }
  CodecProperties properties(std::int64_t) const override {
    return {.unbiased = true, .contraction = true, .shared_indices = true};
  }
  CodecTraffic traffic(std::int64_t count) const override {
    const auto touched = static_cast<double>(8 * count);
    return {touched, touched};
  }

  void encode_values(Instructions, const float* values, std::uint8_t* frame, std::int64_t count, const Key&) const {
    std::memcpy(frame, values, static_cast<std::size_t>(4 * count));
  }

  template <class Sink>
  void decode_values(Instructions instructions, const std::uint8_t* frame, float* values, std::int64_t count,
                     const Key&, const Sink& sink) const {
    vectorised(instructions, [=]() TRIGRAM_INLINE {
      for (std::int64_t i = 0; i < count; ++i) sink(load<float>(frame + 4 * i), values[i]);
    });
  }
};

const Codecs::Registration registration("cpu/identity", {"f32 as they are, nothing lost"},
                                        [](Params&) { return std::make_unique<IdentityCodec>(); });

}  // namespace
}  // namespace trigram
