// The loss and the score of a classifier, a warp a row.
#include "kernels/cuda/fault.hpp"
#include "kernels/cuda/index.hpp"
#include "kernels/cuda/tree_sum.hpp"

namespace trigram {
namespace cuda {
namespace {

__device__ __forceinline__ std::int64_t first_row() {
  return static_cast<std::int64_t>(blockIdx.x) * tree_warps + threadIdx.x / warp_lanes;
}
__device__ __forceinline__ std::int64_t row_step() { return static_cast<std::int64_t>(gridDim.x) * tree_warps; }

template <class T, class Op>
__device__ __forceinline__ T over_lanes(T value, const Op& op) {
#pragma unroll
  for (int half = warp_lanes / 2; half > 0; half /= 2) value = op(value, __shfl_xor_sync(all_lanes, value, half));
  return value;
}

/// The largest of a row's numbers; NaN where the first is NaN, as std::max_element finds it.
__device__ __forceinline__ float largest_of(const float* row, std::int64_t classes) {
  float largest = row[0];
  for (std::int64_t i = threadIdx.x % warp_lanes; i < classes; i += warp_lanes) {
    largest = largest < row[i] ? row[i] : largest;
  }
  return over_lanes(largest, [](float a, float b) { return a < b ? b : a; });
}

/// Turns rows of logits into weight·(softmax − onehot); losses[row] = ln Σ exp(z − max) − (z_label − max).
__global__ void __launch_bounds__(block_threads)
    softmax_rows(float* logits, Indices labels, std::int64_t classes, float weight, double* losses, int* fault) {
  const int lane = threadIdx.x % warp_lanes;
  for (std::int64_t index = first_row(); index < labels.count; index += row_step()) {
    float* row = logits + index * classes;
    const std::int64_t label = labels[index];
    if (label < 0 || label >= classes) {
      raise_fault(fault, label_out_of_range);
      if (lane == 0) losses[index] = 0.0;
      continue;
    }
    const float largest = largest_of(row, classes);
    const double chosen = static_cast<double>(row[label]) - static_cast<double>(largest);
    __syncwarp();
    double sum = 0.0;
    for (std::int64_t i = lane; i < classes; i += warp_lanes) {
      row[i] = std::exp(row[i] - largest);
      sum += static_cast<double>(row[i]);
    }
    sum = over_lanes(sum, [](double a, double b) { return a + b; });
    const auto inverse = static_cast<float>(1.0 / sum);
    for (std::int64_t i = lane; i < classes; i += warp_lanes) {
      row[i] = weight * (row[i] * inverse - (i == label ? 1.0F : 0.0F));
    }
    if (lane == 0) losses[index] = std::log(sum) - chosen;
  }
}

__global__ void __launch_bounds__(block_threads)
    add_losses(const double* losses, std::int64_t count, double* partials) {
  add_tree_blocks(count, partials, [=](std::int64_t i) { return losses[i]; });
}

__global__ void __launch_bounds__(block_threads)
    finish_loss(double* partials, std::int64_t count, float weight, float* loss) {
  const double total = tree_total(partials, count);
  if (threadIdx.x == 0) *loss = static_cast<float>(static_cast<double>(weight) * total);
}

/// Whether std::max_element finds row[label], and finds no NaN there.
__device__ __forceinline__ bool hits(const float* row, std::int64_t classes, std::int64_t label) {
  const float chosen = row[label];
  bool beaten = row[0] != row[0] || chosen != chosen;
  for (std::int64_t i = threadIdx.x % warp_lanes; i < classes; i += warp_lanes) {
    beaten = beaten || row[i] > chosen || (row[i] == chosen && i < label);
  }
  return __any_sync(all_lanes, beaten ? 1 : 0) == 0;
}

/// counts[block] = correct rows among those of this block.
__global__ void __launch_bounds__(block_threads)
    count_hits(const float* logits, Indices labels, std::int64_t classes, std::int64_t* counts, int* fault) {
  __shared__ std::int64_t warps[tree_warps];
  std::int64_t found = 0;
  for (std::int64_t index = first_row(); index < labels.count; index += row_step()) {
    const std::int64_t label = labels[index];
    if (label < 0 || label >= classes) {
      raise_fault(fault, label_out_of_range);
    } else {
      found += hits(logits + index * classes, classes, label) ? 1 : 0;
    }
  }
  if (threadIdx.x % warp_lanes == 0) warps[threadIdx.x / warp_lanes] = found;
  __syncthreads();
  if (threadIdx.x != 0) return;
  std::int64_t sum = 0;
  for (int warp = 0; warp < tree_warps; ++warp) sum += warps[warp];
  counts[blockIdx.x] = sum;
}

__global__ void __launch_bounds__(block_threads)
    add_counts(const std::int64_t* counts, std::int64_t count, std::int64_t* correct) {
  if (threadIdx.x >= warp_lanes) return;
  std::int64_t sum = 0;
  for (std::int64_t i = threadIdx.x; i < count; i += warp_lanes) sum += counts[i];
  sum = over_lanes(sum, [](std::int64_t a, std::int64_t b) { return a + b; });
  if (threadIdx.x == 0) *correct = sum;
}

}  // namespace
}  // namespace cuda

void CudaKernels::softmax_cross_entropy(Buffer logits, Buffer labels, float weight, Buffer loss) {
  const std::int64_t rows = labels.count();
  const std::int64_t partials = cuda::tree_partials(rows);
  auto* losses =
      static_cast<double*>(scratch((static_cast<std::size_t>(rows) + cuda::tree_room(partials)) * sizeof(double)));
  double* room = losses + rows;
  if (rows > 0) {
    cuda::launch("softmax_cross_entropy", *this, cuda::softmax_rows, cuda::blocks_for(*this, rows, cuda::tree_warps),
                 cuda::block_threads, logits.data<float>(), cuda::Indices(labels), logits.count() / rows, weight,
                 losses, fault_);
    cuda::launch("softmax_cross_entropy", *this, cuda::add_losses, cuda::blocks_for(*this, partials, 1),
                 cuda::block_threads, losses, rows, room);
  }
  cuda::launch("softmax_cross_entropy", *this, cuda::finish_loss, 1, cuda::block_threads, room, partials, weight,
               loss.data<float>());
}

void CudaKernels::count_correct(Buffer logits, Buffer labels, Buffer correct) {
  const std::int64_t rows = labels.count();
  const std::int64_t blocks = cuda::blocks_for(*this, rows, cuda::tree_warps);
  auto* counts = static_cast<std::int64_t*>(scratch(static_cast<std::size_t>(blocks) * sizeof(std::int64_t)));
  cuda::launch("count_correct", *this, cuda::count_hits, blocks, cuda::block_threads, logits.data<float>(),
               cuda::Indices(labels), rows == 0 ? 0 : logits.count() / rows, counts, fault_);
  cuda::launch("count_correct", *this, cuda::add_counts, 1, cuda::warp_lanes, counts, blocks,
               correct.data<std::int64_t>());
}

}  // namespace trigram
