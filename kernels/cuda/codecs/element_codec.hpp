// A codec that keeps every element by itself, in a type of its own; encoding, decoding and their fusion in one pass.
#pragma once

#include "kernels/codecs/elements.hpp"
#include "kernels/cuda/codecs/codec.hpp"

namespace trigram::cuda {

/// How an element is kept: as the nearest T.
template <class T>
struct Nearest {
  using Element = T;
  __device__ __forceinline__ T element(float value) const { return nearest_element<T>(value); }
  __device__ __forceinline__ float value(T element) const { return scalar::to_f32(element); }
};

/// A frame of elements, each kept as the Rule says.
template <class Rule>
struct ElementsFrame {
  using T = typename Rule::Element;
  const std::uint8_t* frame;
  Rule rule;

  template <int N>
  struct Codes {
    T elements[N];
  };
  template <int N>
  __device__ __forceinline__ void load(std::int64_t i, Codes<N>& codes) const {
    const std::uint8_t* from = frame + i * static_cast<std::int64_t>(sizeof(T));
    if constexpr (N == 1) {
      codes.elements[0] = cuda::load<T>(from);
    } else {
      read<N>(reinterpret_cast<const T*>(from), codes.elements);
    }
  }
  template <int N>
  __device__ __forceinline__ void decode(std::int64_t, const Codes<N>& codes, float (&values)[N]) const {
#pragma unroll
    for (int j = 0; j < N; ++j) values[j] = rule.value(codes.elements[j]);
  }
};

template <int N, class T>
__device__ __forceinline__ void write_elements(const T (&elements)[N], std::uint8_t* frame, std::int64_t i) {
  std::uint8_t* to = frame + i * static_cast<std::int64_t>(sizeof(T));
  if constexpr (N == 1) {
    put(to, elements[0]);
  } else {
    write<N>(elements, reinterpret_cast<T*>(to));
  }
}

/// The first half of an encoder that looks at no other element: its values, read four at a time.
struct ReadValues {
  static constexpr int width = 4;  ///< what a thread reads at once, so that a warp reads 512 bytes in one piece
  const float* values;

  template <int N>
  struct Held {
    float values[N];
  };
  template <int N>
  __device__ void load(std::int64_t i, Held<N>& held) const {
    read<N>(values + i, held.values);
  }
};

template <class Rule>
struct EncodeElements : ReadValues {
  std::uint8_t* frame;
  Rule rule;

  template <int N>
  __device__ void finish(std::int64_t i, Held<N>& held) const {
    typename Rule::Element elements[N];
#pragma unroll
    for (int j = 0; j < N; ++j) elements[j] = rule.element(held.values[j]);
    write_elements(elements, frame, i);
  }
};

template <class Rule>
void encode_elements(const CudaKernels& kernels, VectorFrames all, const Rule& rule) {
  const bool wide = wide_values(all) && aligned_frames(all, 4 * sizeof(typename Rule::Element));
  run_over_parts("encode", kernels, all, wide, [&](const VectorFrame& one) {
    return EncodeElements<Rule>{{one.values}, one.frame, rule};
  });
}

template <class Rule, class Sink>
void decode_elements(const CudaKernels& kernels, VectorFrames all, const Sink& sink, const Rule& rule) {
  decode_groups(kernels, all, sink, aligned_frames(all, 4 * sizeof(typename Rule::Element)),
                [&](const VectorFrame& one) {
                  return ElementsFrame<Rule>{one.frame, rule};
                });
}

/// As to_f32, where a NaN's bits do not matter because a sum follows.
template <class T>
__device__ __forceinline__ float term_of(T x) {
#ifdef __CUDA_ARCH__
  if constexpr (std::is_same_v<T, scalar::F16>) {
    float wide;
    asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(x.bits));
    return wide;
  }
#endif
  return scalar::to_f32(x);
}
/// As nearest_element, by the processor's conversion, whose NaN is the same.
template <class T>
__device__ __forceinline__ T rounded(float x) {
#ifdef __CUDA_ARCH__
  if constexpr (std::is_same_v<T, scalar::F16>) {
    T element;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(element.bits) : "f"(x));
    return element;
  }
#endif
  return nearest_element<T>(x);
}

/// The frame of scale·Σ frames.
template <class T>
struct ReduceElements {
  static constexpr int frames_in_flight = 4;
  const FrameTable& table;
  float scale;
  std::uint8_t* out;

  template <int N>
  __device__ __forceinline__ void reduce(std::int64_t i) const {
    float sums[N] = {};
    for_frames<frames_in_flight>(table.count, [&]<int n>(std::integral_constant<int, n>, int first) {
      using Frame = ElementsFrame<Nearest<T>>;
      typename Frame::template Codes<N> codes[n];
#pragma unroll
      for (int f = 0; f < n; ++f) Frame{table.frames[first + f], {}}.load(i, codes[f]);
#pragma unroll
      for (int f = 0; f < n; ++f) {
#pragma unroll
        for (int j = 0; j < N; ++j) sums[j] += term_of(codes[f].elements[j]);
      }
    });
    T elements[N];
#pragma unroll
    for (int j = 0; j < N; ++j) elements[j] = rounded<T>(scale * sums[j]);
    write_elements(elements, out, i);
  }
};

template <int N, class T>
__global__ void __launch_bounds__(block_threads)
    reduce_elements(const __grid_constant__ FrameTable table, float scale, std::uint8_t* out, std::int64_t count) {
  const ReduceElements<T> rule{table, scale, out};
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * block_threads;
  for (std::int64_t group = first; group < count / N; group += stride) rule.template reduce<N>(group * N);
  if (const std::int64_t last = count / N * N + first; N > 1 && last < count) rule.template reduce<1>(last);
}

/// `T` is scalar::F16, scalar::BF16 or float.
template <class T>
class ElementCodec final : public CudaCodec<ElementCodec<T>, ElementsModel<T>> {
 public:
  using CudaCodec<ElementCodec<T>, ElementsModel<T>>::CudaCodec;

  void encode_all_of(const CudaKernels& kernels, VectorFrames all) const {
    encode_elements(kernels, all, Nearest<T>{});
  }

  template <class Sink>
  void decode_all_of(const CudaKernels& kernels, VectorFrames all, const Sink& sink) const {
    decode_elements(kernels, all, sink, Nearest<T>{});
  }

  bool reduce_values(const CudaKernels& kernels, const FrameTable& table, float scale, const VectorFrame& own) const {
    constexpr int width = Pack<T>::count;
    const bool wide = table.aligned_at(0, 16) && all_wide(own.frame);
    launch("decode_reduce_encode", kernels, wide ? reduce_elements<width, T> : reduce_elements<1, T>,
           Work{own.count / (wide ? width : 1), block_threads}, block_threads, table, scale, own.frame, own.count);
    return true;
  }
};

}  // namespace trigram::cuda
