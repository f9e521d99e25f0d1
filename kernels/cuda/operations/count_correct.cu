// Counting correct rows on device memory, a warp a row.
#include "kernels/cuda/operations/index.hpp"
#include "kernels/cuda/runtime/fault.hpp"
#include "kernels/cuda/warp_rows.hpp"
#include "kernels/operations/count_correct.hpp"

namespace trigram {
namespace {

/// Whether std::max_element finds row[label], and finds no NaN there.
__device__ __forceinline__ bool hits(const float* row, std::int64_t classes, std::int64_t label) {
  const float chosen = row[label];
  bool beaten = row[0] != row[0] || chosen != chosen;
  for (std::int64_t i = threadIdx.x % cuda::warp_lanes; i < classes; i += cuda::warp_lanes) {
    beaten = beaten || row[i] > chosen || (row[i] == chosen && i < label);
  }
  return __any_sync(cuda::all_lanes, beaten ? 1 : 0) == 0;
}

/// counts[block] = correct rows among those of this block.
__global__ void __launch_bounds__(cuda::block_threads)
    count_hits(const float* logits, cuda::Indices labels, std::int64_t classes, std::int64_t* counts, int* fault) {
  __shared__ std::int64_t warps[cuda::tree_warps];
  std::int64_t found = 0;
  for (std::int64_t index = cuda::first_row(); index < labels.count; index += cuda::row_step()) {
    const std::int64_t label = labels[index];
    if (label < 0 || label >= classes) {
      cuda::raise_fault(fault, cuda::label_out_of_range);
    } else {
      found += hits(logits + index * classes, classes, label) ? 1 : 0;
    }
  }
  if (threadIdx.x % cuda::warp_lanes == 0) warps[threadIdx.x / cuda::warp_lanes] = found;
  __syncthreads();
  if (threadIdx.x != 0) return;
  std::int64_t sum = 0;
  for (int warp = 0; warp < cuda::tree_warps; ++warp) sum += warps[warp];
  counts[blockIdx.x] = sum;
}

__global__ void __launch_bounds__(cuda::block_threads)
    add_counts(const std::int64_t* counts, std::int64_t count, std::int64_t* correct) {
  if (threadIdx.x >= cuda::warp_lanes) return;
  std::int64_t sum = 0;
  for (std::int64_t i = threadIdx.x; i < count; i += cuda::warp_lanes) sum += counts[i];
  sum = cuda::over_lanes(sum, [](std::int64_t a, std::int64_t b) { return a + b; });
  if (threadIdx.x == 0) *correct = sum;
}

class CountCorrect final : public CountCorrectModel {
  void compute(Kernels& kernels, const TensorShapes& inputs, const OperationForward& memory) const override {
    CudaKernels& lane = cuda::cuda_of(kernels);
    const std::int64_t rows = inputs[0].dimensions[0], classes = inputs[0].dimensions[1];
    const std::int64_t blocks =
        cuda::blocks_for(lane, count_hits, cuda::block_threads, cuda::Work{rows, cuda::tree_warps});
    auto* counts = static_cast<std::int64_t*>(lane.scratch(static_cast<std::size_t>(blocks) * sizeof(std::int64_t)));
    cuda::launch("count_correct", lane, count_hits, blocks, cuda::block_threads, memory.inputs[0].data<float>(),
                 cuda::Indices(memory.inputs[1]), classes, counts, lane.fault());
    cuda::launch("count_correct", lane, add_counts, 1, cuda::warp_lanes, counts, blocks,
                 memory.outputs[0].data<std::int64_t>());
  }
};

const Operations::Registration registration("cuda/count_correct", CountCorrectModel::description(),
                                            [](Params&) { return std::make_unique<CountCorrect>(); });

}  // namespace
}  // namespace trigram
