// Embedding on device memory.
#include "kernels/cuda/operations/index.hpp"
#include "kernels/cuda/runtime/fault.hpp"
#include "kernels/cuda/runtime/launch.hpp"
#include "kernels/operations/embedding.hpp"

namespace trigram {
namespace {

/// Copies rows of `width`; a position that leaves the table leaves its row as it was.
__global__ void __launch_bounds__(cuda::block_threads)
    copy_rows(const float* table, std::int64_t known, cuda::Indices positions, float* rows, std::int64_t width,
              int* fault) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < positions.count * width;
       i += stride) {
    const std::int64_t position = positions[i / width];
    if (position < 0 || position >= known) {
      cuda::raise_fault(fault, cuda::row_out_of_range);
    } else {
      rows[i] = table[position * width + i % width];
    }
  }
}

/// A thread a column of the table, positions in order: no two threads add to one element, and sums are the host's.
__global__ void __launch_bounds__(cuda::block_threads)
    add_rows(const float* above, std::int64_t known, cuda::Indices positions, float* sums, std::int64_t width,
             int* fault) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; column < width;
       column += stride) {
    for (std::int64_t i = 0; i < positions.count; ++i) {
      const std::int64_t position = positions[i];
      if (position < 0 || position >= known) {
        cuda::raise_fault(fault, cuda::row_out_of_range);
      } else {
        sums[position * width + column] += above[i * width + column];
      }
    }
  }
}

class Embedding final : public EmbeddingModel {
  void compute(Kernels& kernels, const TensorShapes& inputs, const OperationForward& memory) const override {
    const CudaKernels& lane = cuda::cuda_of(kernels);
    const cuda::Indices positions(memory.inputs[1]);
    const std::int64_t width = inputs[0].dimensions[1];
    cuda::launch("embedding", lane, copy_rows, cuda::Work{positions.count * width, cuda::block_threads},
                 cuda::block_threads, memory.inputs[0].data<float>(), inputs[0].dimensions[0], positions,
                 memory.outputs[0].data<float>(), width, lane.fault());
  }

  void differentiate(Kernels& kernels, const TensorShapes& inputs, const OperationBackward& memory) const override {
    constexpr unsigned threads = 64;  // few columns: many small blocks
    const CudaKernels& lane = cuda::cuda_of(kernels);
    const cuda::Indices positions(memory.inputs[1]);
    const std::int64_t width = inputs[0].dimensions[1];
    kernels.fill(memory.input_gradients[0], 0);
    cuda::launch("embedding_backward", lane, add_rows, cuda::Work{width, threads}, threads,
                 memory.output_gradients[0].data<float>(), inputs[0].dimensions[0], positions,
                 memory.input_gradients[0].data<float>(), width, lane.fault());
  }
};

const Operations::Registration registration("cuda/embedding", EmbeddingModel::description(),
                                            [](Params&) { return std::make_unique<Embedding>(); });

}  // namespace
}  // namespace trigram
