// What codecs on device memory share: one decoding loop for overwriting and for adding, and tables of frames.
#pragma once

#include <algorithm>
#include <vector>

#include "core/device/codec.hpp"
#include "kernels/cuda/bytes.hpp"
#include "kernels/cuda/parts.hpp"
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

/// Decodes by groups. `Frame` has Codes<N>, load(first element, codes) and decode(first element, codes, values) for N
/// of 1 and 4; it may be prepared, and say how many groups are in flight.
template <class Frame, class Sink>
struct Decode {
  static constexpr int width = 4;  ///< what a thread writes at once, so that a warp writes 512 bytes in one piece
  static constexpr int groups = [] {
    if constexpr (requires { Frame::groups; }) {
      return Frame::groups;
    } else {
      return Sink::reads ? groups_in_flight : 2 * groups_in_flight;
    }
  }();
  Frame frame;
  float* values;
  Sink sink;

  template <int N>
  struct Held {
    typename Frame::template Codes<N> codes;
    float values[N];
  };
  template <class Body>
  __device__ __forceinline__ void with_prepared(const Body& body) const {
    cuda::with_prepared(frame, [&]<class Ready>(const Ready& ready) {
      body(Decode<Ready, Sink>{ready, values, sink});
    });
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

/// A vector with its frame.
struct VectorFrame {
  float* values;
  std::uint8_t* frame;
  std::int64_t count;
  Key key;
};
using VectorFrames = std::span<const VectorFrame>;

/// Whether values of all of them allow 16-byte accesses.
inline bool wide_values(VectorFrames all) {
  return std::ranges::all_of(all, [](const VectorFrame& one) { return all_wide(one.values); });
}
/// Whether frames of all of them lie at multiples of so many bytes.
inline bool aligned_frames(VectorFrames all, std::size_t bytes) {
  return std::ranges::all_of(all, [=](const VectorFrame& one) { return is_aligned(one.frame, bytes); });
}

/// Decodes all in one launch, each as the Frame that make(vector) gives.
template <class Sink, class Make>
void decode_groups(const CudaKernels& kernels, VectorFrames all, const Sink& sink, bool wide, const Make& make) {
  using Frame = std::remove_cvref_t<decltype(make(all.front()))>;
  run_over_parts("decode", kernels, all, wide && wide_values(all), [&](const VectorFrame& one) {
    return Decode<Frame, Sink>{make(one), one.values, sink};
  });
}

/// The frames of one sum, as an argument of a kernel.
struct FrameTable {
  static constexpr int most = 128;
  const std::uint8_t* frames[most];
  int count = 0;

  FrameTable() = default;
  explicit FrameTable(std::span<const KeyedFrame> all) {
    for (const KeyedFrame& one : all) frames[count++] = one.frame.data<std::uint8_t>();
  }
  /// Whether byte `offset` of every frame lies at a multiple of so many bytes.
  bool aligned_at(std::int64_t offset, std::size_t bytes) const {
    return std::all_of(frames, frames + count,
                       [&](const std::uint8_t* frame) { return is_aligned(frame + offset, bytes); });
  }
};

/// Calls body(std::integral_constant<int, n>(), f) for frames f … f + n − 1 of `count`: n is `at_once`, whose loads are
/// then in flight together, and 1 for what is left.
template <int at_once, class Body>
__device__ __forceinline__ void for_frames(int count, const Body& body) {
  int f = 0;
#pragma unroll 1
  for (; f + at_once <= count; f += at_once) body(std::integral_constant<int, at_once>(), f);
#pragma unroll 1
  for (; f < count; ++f) body(std::integral_constant<int, 1>(), f);
}

/// `Model` brings parameters and sizes. `Derived` brings encode_all_of(kernels, vectors) and
/// decode_all_of(kernels, vectors, sink), in as many launches for many vectors as for one; no vector is empty.
template <class Derived, class Model>
class CudaCodec : public Model {
 public:
  using Model::Model;

 protected:
  void encode_frame(Kernels& kernels, Buffer in, Buffer out, const Key& key) const final {
    encode(kernels, vector_frames({{in, out, key}}));
  }
  void decode_frame(Kernels& kernels, Buffer in, Buffer out, const Key& key) const final {
    decode(kernels, vector_frames({{out, in, key}}), Overwrite{});
  }
  void decode_add_frame(Kernels& kernels, Buffer in, float weight, Buffer out, const Key& key) const final {
    decode(kernels, vector_frames({{out, in, key}}), AddWeighted{weight});
  }
  void encode_frames(Kernels& kernels, std::span<const CodecPart> parts) const final {
    encode(kernels, vector_frames(parts));
  }
  void decode_frames(Kernels& kernels, std::span<const CodecPart> parts) const final {
    decode(kernels, vector_frames(parts), Overwrite{});
  }
  void decode_add_frames(Kernels& kernels, std::span<const CodecPart> parts, float weight) const final {
    decode(kernels, vector_frames(parts), AddWeighted{weight});
  }
  /// Fused where `Derived` has reduce_values(kernels, table, scale, sum and frame), it returns true, and the table has
  /// room.
  void decode_reduce_encode_frame(Kernels& kernels, std::span<const KeyedFrame> frames, float scale, Buffer sum,
                                  Buffer out, const Key& key) const final {
    if constexpr (requires { &Derived::reduce_values; }) {
      if (frames.size() <= FrameTable::most) {
        const VectorFrame own{sum.data<float>(), out.data<std::uint8_t>(), sum.count(), key};
        if (self().reduce_values(cuda_of(kernels), FrameTable(frames), scale, own)) return;
      }
    }
    Model::decode_reduce_encode_frame(kernels, frames, scale, sum, out, key);
  }

 private:
  const Derived& self() const { return static_cast<const Derived&>(*this); }

  static std::vector<VectorFrame> vector_frames(std::span<const CodecPart> parts) {
    std::vector<VectorFrame> all;
    all.reserve(parts.size());
    for (const CodecPart& part : parts) {
      all.push_back({part.vector.data<float>(), part.frame.data<std::uint8_t>(), part.vector.count(), part.key});
    }
    return all;
  }
  static std::vector<VectorFrame> vector_frames(std::initializer_list<CodecPart> parts) {
    return vector_frames(std::span(parts.begin(), parts.size()));
  }

  void encode(Kernels& kernels, VectorFrames all) const { self().encode_all_of(cuda_of(kernels), all); }
  template <class Sink>
  void decode(Kernels& kernels, VectorFrames all, const Sink& sink) const {
    self().decode_all_of(cuda_of(kernels), all, sink);
  }
};

}  // namespace trigram::cuda
