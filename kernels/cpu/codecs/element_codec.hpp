// A codec that keeps every element by itself, in a type of its own.
#pragma once

#include "kernels/codecs/elements.hpp"
#include "kernels/cpu/codecs/codec.hpp"

namespace trigram {

/// `T` is scalar::F16, scalar::BF16 or float.
template <class T>
class ElementCodec final : public CpuCodec<ElementCodec<T>, ElementsModel<T>> {
 public:
  using CpuCodec<ElementCodec<T>, ElementsModel<T>>::CpuCodec;

  void encode_values(Instructions instructions, const float* values, std::uint8_t* frame, std::int64_t count,
                     const Key&) const {
    vectorised(instructions, [=]() TRIGRAM_INLINE {
      for (std::int64_t i = 0; i < count; ++i) put(frame + size * i, nearest_element<T>(values[i]));
    });
  }

  template <class Sink>
  void decode_values(Instructions instructions, const std::uint8_t* frame, float* values, std::int64_t count,
                     const Key&, const Sink& sink) const {
    vectorised(instructions, [=]() TRIGRAM_INLINE {
      for (std::int64_t i = 0; i < count; ++i) sink(scalar::to_f32(load<T>(frame + size * i)), values[i]);
    });
  }

 private:
  static constexpr std::int64_t size = sizeof(T);
};

}  // namespace trigram
