// Cross-entropy on device memory, a warp a row.
#include "kernels/cuda/operations/index.hpp"
#include "kernels/cuda/runtime/fault.hpp"
#include "kernels/cuda/warp_rows.hpp"
#include "kernels/operations/cross_entropy.hpp"

namespace trigram {
namespace {

/// The largest of a row's numbers; NaN where the first is NaN, as std::max_element finds it.
__device__ __forceinline__ float largest_of(const float* row, std::int64_t classes) {
  float largest = row[0];
  for (std::int64_t i = threadIdx.x % cuda::warp_lanes; i < classes; i += cuda::warp_lanes) {
    largest = largest < row[i] ? row[i] : largest;
  }
  return cuda::over_lanes(largest, [](float a, float b) { return a < b ? b : a; });
}

/// Turns rows of logits into scale·(softmax − onehot); losses[row] = ln Σ exp(z − max) − (z_label − max).
__global__ void __launch_bounds__(cuda::block_threads)
    softmax_rows(float* logits, cuda::Indices labels, std::int64_t classes, float scale, double* losses, int* fault) {
  const int lane = threadIdx.x % cuda::warp_lanes;
  for (std::int64_t index = cuda::first_row(); index < labels.count; index += cuda::row_step()) {
    float* row = logits + index * classes;
    const std::int64_t label = labels[index];
    if (label < 0 || label >= classes) {
      cuda::raise_fault(fault, cuda::label_out_of_range);
      if (lane == 0) losses[index] = 0.0;
      continue;
    }
    const float largest = largest_of(row, classes);
    const double chosen = static_cast<double>(row[label]) - static_cast<double>(largest);
    __syncwarp();
    double sum = 0.0;
    for (std::int64_t i = lane; i < classes; i += cuda::warp_lanes) {
      row[i] = std::exp(row[i] - largest);
      sum += static_cast<double>(row[i]);
    }
    sum = cuda::over_lanes(sum, [](double a, double b) { return a + b; });
    const auto inverse = static_cast<float>(1.0 / sum);
    for (std::int64_t i = lane; i < classes; i += cuda::warp_lanes) {
      row[i] = scale * (row[i] * inverse - (i == label ? 1.0F : 0.0F));
    }
    if (lane == 0) losses[index] = std::log(sum) - chosen;
  }
}

__global__ void __launch_bounds__(cuda::block_threads)
    add_losses(const double* losses, std::int64_t count, double* partials) {
  cuda::add_tree_blocks(count, partials, [=](std::int64_t i) { return losses[i]; });
}

__global__ void __launch_bounds__(cuda::block_threads)
    finish_loss(double* partials, std::int64_t count, float scale, float* loss) {
  const double total = cuda::tree_total(partials, count);
  if (threadIdx.x == 0) *loss = static_cast<float>(static_cast<double>(scale) * total);
}

class CrossEntropy final : public CrossEntropyModel {
 public:
  using CrossEntropyModel::CrossEntropyModel;

 private:
  void compute(Kernels& kernels, const TensorShapes& inputs, const OperationForward& memory) const override {
    CudaKernels& lane = cuda::cuda_of(kernels);
    bring(kernels, memory.inputs[0], memory.saved[0]);
    const std::int64_t rows = inputs[0].dimensions[0], classes = inputs[0].dimensions[1];
    const std::int64_t partials = cuda::tree_partials(rows);
    const std::size_t room_of_all = static_cast<std::size_t>(rows) + cuda::tree_room(partials);
    auto* losses = static_cast<double*>(lane.scratch(room_of_all * sizeof(double)));
    double* room = losses + rows;
    if (rows > 0) {
      cuda::launch("cross_entropy", lane, softmax_rows, cuda::Work{rows, cuda::tree_warps}, cuda::block_threads,
                   memory.saved[0].data<float>(), cuda::Indices(memory.inputs[1]), classes, scale(), losses,
                   lane.fault());
      cuda::launch("cross_entropy", lane, add_losses, cuda::Work{partials, 1}, cuda::block_threads, losses, rows, room);
    }
    cuda::launch("cross_entropy", lane, finish_loss, 1, cuda::block_threads, room, partials, scale(),
                 memory.outputs[0].data<float>());
  }
};

const Operations::Registration registration("cuda/cross_entropy", CrossEntropyModel::description(),
                                            [](Params& params) { return std::make_unique<CrossEntropy>(params); });

}  // namespace
}  // namespace trigram
