// Causal self-attention on device memory: a warp a row of weights, then a warp a token for what later tokens send back.
#include "kernels/cuda/warp_rows.hpp"
#include "kernels/operations/causal_attention.hpp"

namespace trigram {
namespace {

/// Where the row of one sequence, head and token lies.
struct AttentionRow {
  std::int64_t token, projected, out;

  __device__ __forceinline__ AttentionRow(const AttentionHeads& made, std::int64_t row) : token(row % made.tokens) {
    const std::int64_t width = made.heads * made.size, head = row / made.tokens % made.heads;
    const std::int64_t first = row / (made.tokens * made.heads) * made.tokens;  // of the sequence
    projected = (first + token) * 3 * width + head * made.size;
    out = (first + token) * width + head * made.size;
  }
};

__device__ __forceinline__ float product_of(const float* a, const float* b, std::int64_t count) {
  float sum = 0.0F;
  for (std::int64_t i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

/// Σ over `count` rows of factors[r·step]·rows[r·stride].
__device__ __forceinline__ float weighted_column(const float* factors, std::int64_t step, const float* rows,
                                                 std::int64_t stride, std::int64_t count) {
  float sum = 0.0F;
  for (std::int64_t r = 0; r < count; ++r) sum += factors[r * step] * rows[r * stride];
  return sum;
}

__global__ void __launch_bounds__(cuda::block_threads)
    attend(AttentionHeads made, std::int64_t count, float scale, const float* projected, float* weights, float* out) {
  const std::int64_t lane = threadIdx.x % cuda::warp_lanes, width = made.heads * made.size;
  for (std::int64_t index = cuda::first_row(); index < count; index += cuda::row_step()) {
    const AttentionRow row(made, index);
    const float* query = projected + row.projected;
    const float* keys = query - row.token * 3 * width + width;
    float* scores = weights + index * made.tokens;
    float largest = -INFINITY;
    for (std::int64_t j = lane; j <= row.token; j += cuda::warp_lanes) {
      scores[j] = product_of(query, keys + j * 3 * width, made.size) * scale;
      largest = largest < scores[j] ? scores[j] : largest;
    }
    largest = cuda::over_lanes(largest, [](float a, float b) { return a < b ? b : a; });
    double sum = 0.0;
    for (std::int64_t j = lane; j <= row.token; j += cuda::warp_lanes) {
      scores[j] = std::exp(scores[j] - largest);
      sum += static_cast<double>(scores[j]);
    }
    sum = cuda::over_lanes(sum, [](double a, double b) { return a + b; });
    const auto inverse = static_cast<float>(1.0 / sum);
    for (std::int64_t j = lane; j < made.tokens; j += cuda::warp_lanes)
      scores[j] = j <= row.token ? scores[j] * inverse : 0.0F;
    __syncwarp();
    for (std::int64_t i = lane; i < made.size; i += cuda::warp_lanes)
      out[row.out + i] = weighted_column(scores, 1, keys + width + i, 3 * width, row.token + 1);
  }
}

/// Slopes of q·k, and the gradient of the queries.
__global__ void __launch_bounds__(cuda::block_threads)
    differentiate_queries(AttentionHeads made, std::int64_t count, float scale, const float* projected,
                          const float* weights, const float* above, float* slopes, float* below) {
  const std::int64_t lane = threadIdx.x % cuda::warp_lanes, width = made.heads * made.size;
  for (std::int64_t index = cuda::first_row(); index < count; index += cuda::row_step()) {
    const AttentionRow row(made, index);
    const float* keys = projected + row.projected - row.token * 3 * width + width;
    const float* weight = weights + index * made.tokens;
    float* slope = slopes + index * made.tokens;
    double along = 0.0;
    for (std::int64_t j = lane; j <= row.token; j += cuda::warp_lanes) {
      slope[j] = product_of(above + row.out, keys + width + j * 3 * width, made.size);
      along += static_cast<double>(weight[j]) * static_cast<double>(slope[j]);
    }
    along = cuda::over_lanes(along, [](double a, double b) { return a + b; });
    for (std::int64_t j = lane; j <= row.token; j += cuda::warp_lanes)
      slope[j] = weight[j] * static_cast<float>(static_cast<double>(slope[j]) - along) * scale;
    __syncwarp();
    for (std::int64_t i = lane; i < made.size; i += cuda::warp_lanes)
      below[row.projected + i] = weighted_column(slope, 1, keys + i, 3 * width, row.token + 1);
  }
}

/// The gradients of keys and values, tokens that looked at them in their order.
__global__ void __launch_bounds__(cuda::block_threads)
    differentiate_keys(AttentionHeads made, std::int64_t count, const float* projected, const float* weights,
                       const float* above, const float* slopes, float* below) {
  const std::int64_t lane = threadIdx.x % cuda::warp_lanes, width = made.heads * made.size;
  for (std::int64_t index = cuda::first_row(); index < count; index += cuda::row_step()) {
    const AttentionRow row(made, index);
    const std::int64_t diagonal = index * made.tokens + row.token, later = made.tokens - row.token;
    for (std::int64_t i = lane; i < made.size; i += cuda::warp_lanes) {
      below[row.projected + width + i] =
          weighted_column(slopes + diagonal, made.tokens, projected + row.projected + i, 3 * width, later);
      below[row.projected + 2 * width + i] =
          weighted_column(weights + diagonal, made.tokens, above + row.out + i, width, later);
    }
  }
}

class CausalAttention final : public CausalAttentionModel {
 public:
  using CausalAttentionModel::CausalAttentionModel;

 private:
  void compute(Kernels& kernels, const TensorShapes& inputs, const OperationForward& memory) const override {
    const AttentionHeads made = of(inputs);
    cuda::launch("causal_attention", cuda::cuda_of(kernels), attend, cuda::Work{made.rows(), cuda::tree_warps},
                 cuda::block_threads, made, made.rows(), made.scale(), memory.inputs[0].data<float>(),
                 memory.saved[0].data<float>(), memory.outputs[0].data<float>());
  }

  void differentiate(Kernels& kernels, const TensorShapes& inputs, const OperationBackward& memory) const override {
    const AttentionHeads made = of(inputs);
    const CudaKernels& lane = cuda::cuda_of(kernels);
    const cuda::Work work{made.rows(), cuda::tree_warps};
    const float *projected = memory.inputs[0].data<float>(), *weights = memory.saved[0].data<float>();
    const float* above = memory.output_gradients[0].data<float>();
    float *slopes = memory.scratch.data<float>(), *below = memory.input_gradients[0].data<float>();
    cuda::launch("causal_attention_backward", lane, differentiate_queries, work, cuda::block_threads, made, made.rows(),
                 made.scale(), projected, weights, above, slopes, below);
    cuda::launch("causal_attention_backward", lane, differentiate_keys, work, cuda::block_threads, made, made.rows(),
                 projected, weights, above, slopes, below);
  }
};

const Operations::Registration registration("cuda/causal_attention", CausalAttentionModel::description(),
                                            [](Params& params) { return std::make_unique<CausalAttention>(params); });

}  // namespace
}  // namespace trigram
