// random_k on device memory: a thread a kept value.
#include "kernels/codecs/random_k.hpp"
#include "kernels/cuda/codec.hpp"

namespace trigram {
namespace cuda {
namespace {

__global__ void __launch_bounds__(block_threads)
    gather(const float* values, const __grid_constant__ RandomSelection selection, std::int64_t k, float factor,
           std::uint8_t* frame) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t j = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; j < k; j += stride) {
    put(frame + 4 * j, factor * values[selection(j)]);
  }
}

template <class Sink>
__global__ void __launch_bounds__(block_threads)
    scatter(const std::uint8_t* frame, const __grid_constant__ RandomSelection selection, std::int64_t k, float* values,
            Sink sink) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t j = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; j < k; j += stride) {
    float& out = values[selection(j)];
    out = sink.of(load<float>(frame + 4 * j), out);
  }
}

class RandomK final : public CudaCodec<RandomK, RandomKModel> {
 public:
  using CudaCodec::CudaCodec;

  void encode_values(const CudaKernels& kernels, const float* values, std::uint8_t* frame, std::int64_t count,
                     const Key& key) const {
    const std::int64_t k = kept(count);
    launch("encode", kernels, gather, Work{k, block_threads}, block_threads, values, RandomSelection(key, count, k), k,
           factor(count), frame);
  }

  template <class Sink>
  void decode_values(const CudaKernels& kernels, const std::uint8_t* frame, float* values, std::int64_t count,
                     const Key& key, const Sink& sink) const {
    if constexpr (!Sink::reads) {
      check(cudaMemsetAsync(values, 0, static_cast<std::size_t>(count) * sizeof(float), kernels.stream()), "decode");
    }
    const std::int64_t k = kept(count);
    launch("decode", kernels, scatter<Sink>, Work{k, block_threads}, block_threads, frame,
           RandomSelection(key, count, k), k, values, sink);
  }
};

}  // namespace
}  // namespace cuda

namespace {

const Codecs::Registration registration("cuda/random_k", RandomKModel::description(),
                                        [](Params& params) { return std::make_unique<cuda::RandomK>(params); });

}  // namespace
}  // namespace trigram
