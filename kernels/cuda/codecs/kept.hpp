// What codecs that keep k elements of a vector share: zeros for all the others.
#pragma once

#include "kernels/cuda/codecs/codec.hpp"

namespace trigram::cuda {

struct WriteZeros {
  static constexpr int width = 4;
  float* values;

  template <int N>
  struct Held {};
  template <int N>
  __device__ void load(std::int64_t, Held<N>&) const {}
  template <int N>
  __device__ void finish(std::int64_t i, Held<N>&) const {
    const float zeros[N] = {};
    write<N>(zeros, values + i);
  }
};

/// Before what is decoded overwrites elements that a frame keeps, all others are 0: in one launch for all vectors.
template <class Sink>
void begin_decoding(const CudaKernels& kernels, VectorFrames all, const Sink&) {
  if constexpr (Sink::reads) return;
  run_over_parts("decode", kernels, all, wide_values(all),
                 [](const VectorFrame& one) { return WriteZeros{one.values}; });
}

/// A vector of which `count` elements are kept.
struct KeptFrame {
  VectorFrame whole;
  std::int64_t count;
};

/// Of each vector the kept(count) elements that its codec keeps.
template <class Kept>
std::vector<KeptFrame> kept_frames(VectorFrames all, const Kept& kept) {
  std::vector<KeptFrame> frames;
  frames.reserve(all.size());
  for (const VectorFrame& one : all) frames.push_back({one, kept(one.count)});
  return frames;
}

}  // namespace trigram::cuda
