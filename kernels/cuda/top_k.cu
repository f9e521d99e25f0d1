// top_k on device memory: the k-th largest magnitude digit by digit, then one pass that keeps elements in order.
#include "kernels/codecs/top_k.hpp"
#include "kernels/cuda/codec.hpp"
#include "kernels/cuda/digit_counts.hpp"
#include "kernels/cuda/fault.hpp"

namespace trigram {
namespace cuda {
namespace {

/// Elements above the threshold, and those equal to it.
struct Found {
  std::int64_t above, equal;
};

__global__ void begin_threshold(Threshold* threshold, std::int64_t k) {
  if (threadIdx.x == 0) *threshold = {0, 0, k};
}

/// found[block], from the digits that the block counted in each pass; a warp a block.
__global__ void __launch_bounds__(warp_lanes)
    tally(const std::uint32_t* counts, std::int64_t blocks, const Threshold* threshold, Found* found) {
  const std::int64_t block = blockIdx.x;
  const std::uint32_t magnitude = threshold->magnitude;
  std::int64_t above = 0;
  int last = 0;
  for (int pass = 0; pass < digit_passes; ++pass) {
    const std::uint32_t* own = counts + (pass * blocks + block) * digits;
    last = static_cast<int>(magnitude >> digit_of(pass).shift & ((1U << digit_of(pass).bits) - 1U));
    for (int digit = static_cast<int>(threadIdx.x); digit < digits; digit += warp_lanes) {
      above += digit > last ? own[digit] : 0;
    }
  }
  for (int half = warp_lanes / 2; half > 0; half /= 2) above += __shfl_xor_sync(all_lanes, above, half);
  if (threadIdx.x == 0) found[block] = {above, counts[((digit_passes - 1) * blocks + block) * digits + last]};
}

/// What blocks before this one found, the same in every thread.
__device__ __forceinline__ Found found_before(const Found* found) {
  __shared__ std::int64_t above[counting_warps];
  __shared__ std::int64_t equal[counting_warps];
  Found sum{0, 0};
  for (std::int64_t i = threadIdx.x; i < blockIdx.x; i += blockDim.x) {
    sum.above += found[i].above;
    sum.equal += found[i].equal;
  }
  for (int half = warp_lanes / 2; half > 0; half /= 2) {
    sum.above += __shfl_xor_sync(all_lanes, sum.above, half);
    sum.equal += __shfl_xor_sync(all_lanes, sum.equal, half);
  }
  if (threadIdx.x % warp_lanes == 0) {
    above[threadIdx.x / warp_lanes] = sum.above;
    equal[threadIdx.x / warp_lanes] = sum.equal;
  }
  __syncthreads();
  sum = {0, 0};
  for (int warp = 0; warp < counting_warps; ++warp) {
    sum.above += above[warp];
    sum.equal += equal[warp];
  }
  return sum;
}

/// Writes what the block keeps of its share, in order: all above the threshold, and of those equal to it the first.
__global__ void __launch_bounds__(counting_threads)
    write_kept(const float* values, std::int64_t count, std::int64_t k, const Threshold* threshold, const Found* found,
               std::uint8_t* frame) {
  __shared__ std::uint32_t above_of[counted_at_once][counting_warps];
  __shared__ std::uint32_t equal_of[counted_at_once][counting_warps];
  const Threshold limit = *threshold;
  const Share share = share_of(count);
  const int warp = static_cast<int>(threadIdx.x / warp_lanes);
  const std::uint32_t earlier = (1U << threadIdx.x % warp_lanes) - 1U;
  Found before = found_before(found);
  for (std::int64_t begin = share.begin; begin < share.end; begin += counted_at_once * counting_threads) {
    float x[counted_at_once];
    std::uint32_t above[counted_at_once];
    std::uint32_t equal[counted_at_once];
#pragma unroll
    for (int j = 0; j < counted_at_once; ++j) {
      const std::int64_t i = begin + j * static_cast<std::int64_t>(counting_threads) + threadIdx.x;
      x[j] = i < share.end ? values[i] : 0.0F;
      const std::uint32_t size = scalar::magnitude(x[j]);
      above[j] = __ballot_sync(all_lanes, i < share.end && size > limit.magnitude ? 1 : 0);
      equal[j] = __ballot_sync(all_lanes, i < share.end && size == limit.magnitude ? 1 : 0);
      above_of[j][warp] = above[j];
      equal_of[j][warp] = equal[j];
    }
    __syncthreads();
    Found running = before;
#pragma unroll
    for (int j = 0; j < counted_at_once; ++j) {
      for (int w = 0; w < counting_warps; ++w) {
        if (w == warp && ((above[j] | equal[j]) >> threadIdx.x % warp_lanes & 1U) != 0) {
          const std::int64_t ties = running.equal + __popc(equal[j] & earlier);
          const bool is_above = (above[j] >> threadIdx.x % warp_lanes & 1U) != 0;
          const std::int64_t place =
              running.above + __popc(above[j] & earlier) + (ties < limit.wanted ? ties : limit.wanted);
          if (is_above || ties < limit.wanted) {
            const std::int64_t i = begin + j * static_cast<std::int64_t>(counting_threads) + threadIdx.x;
            put(frame + 4 * place, static_cast<std::int32_t>(i));
            put(frame + 4 * (k + place), x[j]);
          }
        }
        running.above += __popc(above_of[j][w]);
        running.equal += __popc(equal_of[j][w]);
      }
    }
    before = running;
    __syncthreads();
  }
}

/// A thread a kept value; values that are not kept stand as they are.
template <class Sink>
__global__ void __launch_bounds__(block_threads)
    scatter(const std::uint8_t* frame, std::int64_t k, float* values, std::int64_t count, Sink sink, int* fault) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t j = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; j < k; j += stride) {
    const auto index = load<std::int32_t>(frame + 4 * j);
    if (index < 0 || index >= count) {
      raise_fault(fault, foreign_top_k_frame);
    } else {
      values[index] = sink.of(load<float>(frame + 4 * (k + j)), values[index]);
    }
  }
}

class TopK final : public CudaCodec<TopK, TopKModel> {
 public:
  using CudaCodec::CudaCodec;

  void encode_values(CudaKernels& kernels, const float* values, std::uint8_t* frame, std::int64_t count,
                     const Key&) const {
    ensure_indices_fit(count);
    const std::int64_t blocks =
        blocks_for(kernels, count_digits, counting_threads, Work{count, most_counted * counting_threads});
    const auto sizes = static_cast<std::size_t>(blocks) * digits * digit_passes;
    auto* found = static_cast<Found*>(kernels.scratch(static_cast<std::size_t>(blocks) * sizeof(Found) +
                                                      sizeof(Threshold) + sizes * sizeof(std::uint32_t)));
    auto* threshold = reinterpret_cast<Threshold*>(found + blocks);
    auto* counts = reinterpret_cast<std::uint32_t*>(threshold + 1);
    launch("encode", kernels, begin_threshold, 1, warp_lanes, threshold, kept(count));
    for (int pass = 0; pass < digit_passes; ++pass) {
      std::uint32_t* own = counts + pass * blocks * digits;
      launch("encode", kernels, count_digits, blocks, counting_threads, values, count, threshold, pass, own);
      launch("encode", kernels, choose_digit, 1, digits, own, blocks, pass, threshold);
    }
    launch("encode", kernels, tally, blocks, warp_lanes, counts, blocks, threshold, found);
    launch("encode", kernels, write_kept, blocks, counting_threads, values, count, kept(count), threshold, found,
           frame);
  }

  template <class Sink>
  void decode_values(CudaKernels& kernels, const std::uint8_t* frame, float* values, std::int64_t count, const Key&,
                     const Sink& sink) const {
    if constexpr (!Sink::reads) {
      check(cudaMemsetAsync(values, 0, static_cast<std::size_t>(count) * sizeof(float), kernels.stream()), "decode");
    }
    launch("decode", kernels, scatter<Sink>, Work{kept(count), block_threads}, block_threads, frame, kept(count),
           values, count, sink, kernels.fault());
  }
};

}  // namespace
}  // namespace cuda

namespace {

const Codecs::Registration registration("cuda/top_k", TopKModel::description(),
                                        [](Params& params) { return std::make_unique<cuda::TopK>(params); });

}  // namespace
}  // namespace trigram
