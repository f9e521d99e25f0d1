// A codec that keeps every element by itself, in a type of its own; encoding, decoding and their fusion in one pass.
#pragma once

#include "kernels/codecs/elements.hpp"
#include "kernels/cuda/codec.hpp"

namespace trigram::cuda {

template <class T>
struct ElementsFrame {
  static constexpr int width = Pack<T>::count;
  const std::uint8_t* frame;

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
    for (int j = 0; j < N; ++j) values[j] = scalar::to_f32(codes.elements[j]);
  }
};

template <int N, class T>
__device__ __forceinline__ void write_elements(const float (&values)[N], std::uint8_t* frame, std::int64_t i) {
  T elements[N];
#pragma unroll
  for (int j = 0; j < N; ++j) scalar::store(values[j], elements[j]);
  std::uint8_t* to = frame + i * static_cast<std::int64_t>(sizeof(T));
  if constexpr (N == 1) {
    put(to, elements[0]);
  } else {
    write<N>(elements, reinterpret_cast<T*>(to));
  }
}

template <class T>
struct EncodeElements {
  static constexpr int width = Pack<T>::count;
  const float* values;
  std::uint8_t* frame;

  template <int N>
  struct Held {
    float values[N];
  };
  template <int N>
  __device__ void load(std::int64_t i, Held<N>& held) const {
    read<N>(values + i, held.values);
  }
  template <int N>
  __device__ void finish(std::int64_t i, Held<N>& held) const {
    write_elements<N, T>(held.values, frame, i);
  }
};

/// The frame of scale·Σ frames.
template <int N, class T>
__global__ void __launch_bounds__(block_threads)
    reduce_elements(const __grid_constant__ FrameTable table, float scale, std::uint8_t* out, std::int64_t begin,
                    std::int64_t count) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x * N;
  for (std::int64_t i = begin + (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * N; i < count;
       i += stride) {
    float sums[N] = {};
#pragma unroll 4
    for (int f = 0; f < table.count; ++f) {
      const ElementsFrame<T> frame{table.frames[f]};
      typename ElementsFrame<T>::template Codes<N> codes;
      float values[N];
      frame.load(i, codes);
      frame.decode(i, codes, values);
#pragma unroll
      for (int j = 0; j < N; ++j) sums[j] += values[j];
    }
#pragma unroll
    for (int j = 0; j < N; ++j) sums[j] = scale * sums[j];
    write_elements<N, T>(sums, out, i);
  }
}

/// `T` is scalar::F16, scalar::BF16 or float.
template <class T>
class ElementCodec final : public CudaCodec<ElementCodec<T>, ElementsModel<T>> {
 public:
  using CudaCodec<ElementCodec<T>, ElementsModel<T>>::CudaCodec;

  void encode_all_of(const CudaKernels& kernels, VectorFrames all) const {
    run_over_parts("encode", kernels, all, wide_values(all) && wide_frames(all), [](const VectorFrame& one) {
      return EncodeElements<T>{one.values, one.frame};
    });
  }

  template <class Sink>
  void decode_all_of(const CudaKernels& kernels, VectorFrames all, const Sink& sink) const {
    decode_groups(kernels, all, sink, wide_frames(all),
                  [](const VectorFrame& one) { return ElementsFrame<T>{one.frame}; });
  }

  bool reduce_values(const CudaKernels& kernels, const FrameTable& table, float scale, const VectorFrame& own) const {
    std::uint8_t* const out = own.frame;
    const std::int64_t count = own.count;
    constexpr int width = Pack<T>::count;
    const bool wide = table.wide_at(0) && all_wide(out);
    const std::int64_t whole = wide ? count - count % width : 0;
    if (whole > 0) {
      launch("decode_reduce_encode", kernels, reduce_elements<width, T>,
             blocks_for(kernels, whole / width, block_threads), block_threads, table, scale, out, 0, whole);
    }
    if (whole < count) {
      launch("decode_reduce_encode", kernels, reduce_elements<1, T>, blocks_for(kernels, count - whole, block_threads),
             block_threads, table, scale, out, whole, count);
    }
    return true;
  }
};

}  // namespace trigram::cuda
