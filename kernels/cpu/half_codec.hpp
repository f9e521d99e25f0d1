// A codec that keeps every element in a shorter floating-point type.
#pragma once

#include "kernels/cpu/codec.hpp"

namespace trigram {

/// `Half` is scalar::F16 or scalar::BF16.
template <class Half>
class HalfCodec final : public CpuCodec<HalfCodec<Half>> {
 public:
  explicit HalfCodec(CodecProperties properties) : properties_(properties) {}

  std::int64_t encoded_bytes(std::int64_t count) const override { return 2 * count; }
  CodecProperties properties(std::int64_t) const override { return properties_; }
  CodecTraffic traffic(std::int64_t count) const override {
    const auto touched = static_cast<double>(6 * count);
    return {touched, touched};
  }

  void encode_values(Instructions instructions, const float* values, std::uint8_t* frame, std::int64_t count,
                     const Key&) const {
    vectorised(instructions, [=]() TRIGRAM_INLINE {
      for (std::int64_t i = 0; i < count; ++i) {
        Half half;
        scalar::store(values[i], half);
        put(frame + 2 * i, half);
      }
    });
  }

  template <class Sink>
  void decode_values(Instructions instructions, const std::uint8_t* frame, float* values, std::int64_t count,
                     const Key&, const Sink& sink) const {
    vectorised(instructions, [=]() TRIGRAM_INLINE {
      for (std::int64_t i = 0; i < count; ++i) sink(scalar::to_f32(load<Half>(frame + 2 * i)), values[i]);
    });
  }

 private:
  CodecProperties properties_;
};

}  // namespace trigram
