// Upper half: sign, exponent and seven bits of the fraction of each f32; the rest is cut off.
//   |x − x̂| < 2^-7 |x| from 2^-126 on: a contraction, E‖x − x̂‖² ≤ 2^-14 ‖x‖².
// Every NaN becomes the same one, infinities stay; what is under 2^-126 can vanish; an empty vector has an empty frame.
// Frame: 2 bytes an element, in order.
// Change: what is kept, its bound and paper, what happens to NaN, infinities, constants and an empty vector, the frame.
#include "kernels/cpu/codecs/codec.hpp"

namespace trigram {
namespace {

/// Parameters and sizes: what is the same on every kind of device.
class UpperHalfModel : public Codec {
 public:
  // Change: parameters are read here, as params.get("levels", 127, "levels of each sign", {1, 127}).
  explicit UpperHalfModel(Params&) {}

  // Change: exact, and never dependent on the data.
  std::int64_t encoded_bytes(std::int64_t count) const override { return 2 * count; }
  // Change: unbiased or a contraction, with the bound of its error.
  CodecProperties properties(std::int64_t) const override { return {.contraction = true, .bound = 0x1p-14}; }
  // Change: what encoding reads and writes.
  CodecTraffic traffic(std::int64_t count) const override {
    return CodecTraffic::dense(4 * count + encoded_bytes(count), encoded_bytes(count), count);
  }
};

class UpperHalf final : public CpuCodec<UpperHalf, UpperHalfModel> {
 public:
  using CpuCodec::CpuCodec;

  // Change: the frame of these values; random numbers come from the key and the element's index alone.
  void encode_values(Instructions instructions, const float* values, std::uint8_t* frame, std::int64_t count,
                     const Key&) const {
    vectorised(instructions, [=]() TRIGRAM_INLINE {
      for (std::int64_t i = 0; i < count; ++i) put(frame + 2 * i, upper(values[i]));
    });
  }

  // Change: each value of the frame goes to its place through `sink`, which overwrites or adds.
  template <class Sink>
  void decode_values(Instructions instructions, const std::uint8_t* frame, float* values, std::int64_t count,
                     const Key&, const Sink& sink) const {
    vectorised(instructions, [=]() TRIGRAM_INLINE {
      for (std::int64_t i = 0; i < count; ++i) {
        sink(scalar::from_bits(std::uint32_t{load<std::uint16_t>(frame + 2 * i)} << 16U), values[i]);
      }
    });
  }

 private:
  /// Signs and payloads of NaN differ between processors, and frames may not.
  TRIGRAM_RULE static std::uint16_t upper(float x) {
    return static_cast<std::uint16_t>(scalar::bits_of(scalar::with_one_nan(x)) >> 16U);
  }
};

// Change: what `trigram list` says, and the paper as a second text.
const Codecs::Registration registration("cpu/upper_half", {"the upper half of each f32"},
                                        [](Params& params) { return std::make_unique<UpperHalf>(params); });

}  // namespace
}  // namespace trigram
