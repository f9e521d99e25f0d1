// What codecs on device memory share: one decoding loop for overwriting and for adding, and tables of frames.
#pragma once

#include <algorithm>

#include "core/codec.hpp"
#include "kernels/cuda/bytes.hpp"
#include "kernels/cuda/groups.hpp"
#include "kernels/scalar.hpp"

namespace trigram::cuda {

/// What decoding does with a value, given what stood there.
struct Overwrite {
  static constexpr bool reads = false;
  __device__ __forceinline__ float of(float value, float) const { return value; }
};
struct AddWeighted {
  static constexpr bool reads = true;
  float weight;
  __device__ __forceinline__ float of(float value, float before) const { return before + weight * value; }
};

/// Decodes by groups. `Frame` has width, Codes<N>, load(first element, codes) and decode(first element, codes, values);
/// it may have prepared().
template <class Frame, class Sink>
struct Decode {
  static constexpr int width = Frame::width;
  Frame frame;
  float* values;
  Sink sink;

  template <int N>
  struct Held {
    typename Frame::template Codes<N> codes;
    float values[N];
  };
  __device__ auto prepared() const {
    const auto ready = cuda::prepared(frame);
    return Decode<std::remove_const_t<decltype(ready)>, Sink>{ready, values, sink};
  }
  template <int N>
  __device__ void load(std::int64_t i, Held<N>& held) const {
    frame.load(i, held.codes);
    if constexpr (Sink::reads) read<N>(values + i, held.values);
  }
  template <int N>
  __device__ void finish(std::int64_t i, Held<N>& held) const {
    float decoded[N];
    frame.decode(i, held.codes, decoded);
#pragma unroll
    for (int j = 0; j < N; ++j) held.values[j] = sink.of(decoded[j], held.values[j]);
    write<N>(held.values, values + i);
  }
};

template <class Frame, class Sink>
void decode_groups(const CudaKernels& kernels, const Frame& frame, float* values, std::int64_t count, const Sink& sink,
                   bool wide) {
  run_over("decode", kernels, Decode<Frame, Sink>{frame, values, sink}, count, wide && all_wide(values));
}

/// The frames of one sum, as an argument of a kernel.
struct FrameTable {
  static constexpr int most = 128;
  const std::uint8_t* frames[most];
  int count = 0;

  explicit FrameTable(std::span<const KeyedFrame> all) {
    for (const KeyedFrame& one : all) frames[count++] = one.frame.data<std::uint8_t>();
  }
  /// Whether byte `offset` of every frame allows 16-byte accesses.
  bool wide_at(std::int64_t offset) const {
    return std::all_of(frames, frames + count, [&](const std::uint8_t* frame) { return all_wide(frame + offset); });
  }
};

/// `Model` brings parameters and sizes. `Derived` brings encode_values(kernels, values, frame, count, key) and
/// decode_values(kernels, frame, values, count, key, sink); count is at least 1.
template <class Derived, class Model>
class CudaCodec : public Model {
 public:
  using Model::Model;

 protected:
  void encode_frame(Kernels& kernels, Buffer in, Buffer out, const Key& key) const final {
    self().encode_values(cuda_of(kernels), in.data<float>(), out.data<std::uint8_t>(), in.count(), key);
  }
  void decode_frame(Kernels& kernels, Buffer in, Buffer out, const Key& key) const final {
    self().decode_values(cuda_of(kernels), in.data<std::uint8_t>(), out.data<float>(), out.count(), key, Overwrite{});
  }
  void decode_add_frame(Kernels& kernels, Buffer in, float weight, Buffer out, const Key& key) const final {
    self().decode_values(cuda_of(kernels), in.data<std::uint8_t>(), out.data<float>(), out.count(), key,
                         AddWeighted{weight});
  }
  /// Fused where `Derived` has reduce_values(kernels, table, scale, sum, frame, count, key), it returns true, and the
  /// table has room.
  void decode_reduce_encode_frame(Kernels& kernels, std::span<const KeyedFrame> frames, float scale, Buffer sum,
                                  Buffer out, const Key& key) const final {
    if constexpr (requires { &Derived::reduce_values; }) {
      if (frames.size() <= FrameTable::most) {
        auto* frame = out.data<std::uint8_t>();
        const FrameTable table(frames);
        if (self().reduce_values(cuda_of(kernels), table, scale, sum.data<float>(), frame, sum.count(), key)) return;
      }
    }
    Model::decode_reduce_encode_frame(kernels, frames, scale, sum, out, key);
  }

 private:
  const Derived& self() const { return static_cast<const Derived&>(*this); }
};

}  // namespace trigram::cuda
