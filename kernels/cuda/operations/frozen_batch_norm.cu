// Batch normalisation by given statistics on device memory, a thread an element.
#include "kernels/cuda/runtime/launch.hpp"
#include "kernels/operations/frozen_batch_norm.hpp"

namespace trigram {
namespace {

__global__ void __launch_bounds__(cuda::block_threads)
    normalise_by(Channels images, const float* x, const float* gains, const float* shifts, const float* means,
                 const float* scales, float* y, std::int64_t count) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += stride) {
    const std::int64_t channel = i / images.places % images.channels;
    y[i] = normalised(x[i], means[channel], scales[channel]) * gains[channel] + shifts[channel];
  }
}

class FrozenBatchNorm final : public FrozenBatchNormModel {
  void compute(Kernels& kernels, const TensorShapes& inputs, const OperationForward& memory) const override {
    const auto given = [&](std::size_t input) -> const float* { return memory.inputs[input].data<float>(); };
    const Buffer y = memory.outputs[0];
    cuda::launch("frozen_batch_norm", cuda::cuda_of(kernels), normalise_by, cuda::Work{y.count(), cuda::block_threads},
                 cuda::block_threads, Channels(inputs[0]), given(0), given(1), given(2), given(3), given(4),
                 y.data<float>(), y.count());
  }
};

const Operations::Registration registration("cuda/frozen_batch_norm", FrozenBatchNormModel::description(),
                                            [](Params&) { return std::make_unique<FrozenBatchNorm>(); });

}  // namespace
}  // namespace trigram
