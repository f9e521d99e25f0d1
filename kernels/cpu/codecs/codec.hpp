// What codecs on host memory share: frames as bytes, and one decoding loop for overwriting and for adding.
#pragma once

#include <cstring>

#include "core/device/codec.hpp"
#include "kernels/cpu/kernels.hpp"
#include "kernels/scalar.hpp"

namespace trigram {

/// What decoding does with a value.
struct Overwrite {
  TRIGRAM_RULE void operator()(float value, float& out) const { out = value; }
};
struct AddWeighted {
  float weight;
  TRIGRAM_RULE void operator()(float value, float& out) const { out += weight * value; }
};

/// Frames lie at any address.
template <class T>
TRIGRAM_RULE T load(const std::uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <class T>
TRIGRAM_RULE void put(std::uint8_t* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

/// `Model` brings parameters and sizes. `Derived` brings encode_values(instructions, values, frame, count, key) and
/// decode_values(instructions, frame, values, count, key, sink) with a sink of the two above; count is at least 1.
template <class Derived, class Model>
class CpuCodec : public Model {
 public:
  using Model::Model;

 protected:
  void encode_frame(Kernels& kernels, Buffer in, Buffer out, const Key& key) const final {
    self().encode_values(instructions(kernels), in.data<float>(), out.data<std::uint8_t>(), in.count(), key);
  }
  void decode_frame(Kernels& kernels, Buffer in, Buffer out, const Key& key) const final {
    decode_with(kernels, in, out, key, Overwrite{});
  }
  void decode_add_frame(Kernels& kernels, Buffer in, float weight, Buffer out, const Key& key) const final {
    decode_with(kernels, in, out, key, AddWeighted{weight});
  }

 private:
  static Instructions instructions(Kernels& kernels) { return dynamic_cast<CpuKernels&>(kernels).instructions(); }
  const Derived& self() const { return static_cast<const Derived&>(*this); }

  template <class Sink>
  void decode_with(Kernels& kernels, Buffer in, Buffer out, const Key& key, const Sink& sink) const {
    const std::uint8_t* frame = in.data<std::uint8_t>();
    self().decode_values(instructions(kernels), frame, out.data<float>(), out.count(), key, sink);
  }
};

}  // namespace trigram
