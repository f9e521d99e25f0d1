// top_k on device memory: the k-th largest magnitude digit by digit, then one pass that keeps elements in order.
#include "kernels/codecs/top_k.hpp"
#include "kernels/cuda/codecs/digit_counts.hpp"
#include "kernels/cuda/codecs/kept.hpp"
#include "kernels/cuda/runtime/fault.hpp"

namespace trigram {
namespace cuda {
namespace {

/// Elements above the threshold, and those equal to it.
struct Found {
  std::int64_t above, equal;
};

/// A thread a vector.
__global__ void __launch_bounds__(SelectedTable::most)
    begin_thresholds(const __grid_constant__ SelectedTable table, Threshold* thresholds) {
  if (threadIdx.x < table.count) thresholds[threadIdx.x] = {0, 0, table.parts[threadIdx.x].k};
}

/// found[block], from the digits that the block counted in each pass; a warp a block.
__global__ void __launch_bounds__(warp_lanes)
    tally(const std::uint32_t* counts, std::int64_t blocks_each, const Threshold* thresholds, Found* found) {
  const std::int64_t block = blockIdx.x;
  const std::int64_t blocks = gridDim.x;
  const std::uint32_t magnitude = thresholds[block / blocks_each].magnitude;
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

/// What blocks of the same vector before this one found, the same in every thread.
__device__ __forceinline__ Found found_before(const SelectedTable& table, const Found* found) {
  __shared__ std::int64_t above[counting_warps];
  __shared__ std::int64_t equal[counting_warps];
  Found sum{0, 0};
  for (std::int64_t i = blockIdx.x - table.block() + threadIdx.x; i < blockIdx.x; i += blockDim.x) {
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
    write_kept(const __grid_constant__ SelectedTable table, const Threshold* thresholds, const Found* found) {
  __shared__ std::uint32_t above_of[counted_at_once][counting_warps];
  __shared__ std::uint32_t equal_of[counted_at_once][counting_warps];
  const auto [values, frame, count, k] = table.own();
  const Threshold limit = thresholds[table.place()];
  const Share share = share_of(table);
  const int warp = static_cast<int>(threadIdx.x / warp_lanes);
  const std::uint32_t earlier = (1U << threadIdx.x % warp_lanes) - 1U;
  Found before = found_before(table, found);
  for (std::int64_t begin = share.begin; begin < share.end; begin += counted_at_once * counting_threads) {
    float x[counted_at_once];
    std::uint32_t above[counted_at_once];
    std::uint32_t equal[counted_at_once];
#pragma unroll
    for (int j = 0; j < counted_at_once; ++j) {
      const std::int64_t i = begin + j * static_cast<std::int64_t>(counting_threads) + threadIdx.x;
      x[j] = i < share.end ? values[i] : 0.0F;
      const std::uint32_t size = scalar::ordered_magnitude(x[j]);
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
            put(frame + 4 * (k + place), scalar::with_one_nan(x[j]));
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

/// Values that are not kept stand as they are.
template <class Sink>
struct Scatter {
  static constexpr int width = 1;
  const std::uint8_t* frame;
  float* values;
  std::int64_t count, k;
  Sink sink;
  int* fault;

  template <int N>
  struct Held {
    std::int32_t index;
    float value;
    float before;
  };
  __device__ bool inside(std::int32_t index) const { return index >= 0 && index < count; }
  __device__ void load(std::int64_t j, Held<1>& held) const {
    held.index = cuda::load<std::int32_t>(frame + 4 * j);
    held.value = cuda::load<float>(frame + 4 * (k + j));
    if constexpr (Sink::reads) held.before = inside(held.index) ? values[held.index] : 0.0F;
  }
  __device__ void finish(std::int64_t, Held<1>& held) const {
    if (inside(held.index)) {
      values[held.index] = sink.of(held.value, held.before);
    } else {
      raise_fault(fault, foreign_top_k_frame);
    }
  }
};

class TopK final : public CudaCodec<TopK, TopKModel> {
 public:
  using CudaCodec::CudaCodec;

  void encode_all_of(CudaKernels& kernels, VectorFrames all) const {
    for (const VectorFrame& one : all) ensure_indices_fit(one.count);
    by_tables(
        kernels, count_digits, all, most_counted * counting_threads,
        [this](const VectorFrame& one) {
          return Selected{one.values, one.frame, one.count, kept(one.count)};
        },
        [](const VectorFrame& one) { return one.count; }, [&](const SelectedTable& table) { select(kernels, table); },
        counting_threads);
  }

  template <class Sink>
  void decode_all_of(const CudaKernels& kernels, VectorFrames all, const Sink& sink) const {
    begin_decoding(kernels, all, sink);
    const std::vector<KeptFrame> frames = kept_frames(all, [this](std::int64_t count) { return kept(count); });
    run_over_parts("decode", kernels, std::span<const KeptFrame>(frames), false, [&](const KeptFrame& one) {
      return Scatter<Sink>{one.whole.frame, one.whole.values, one.whole.count, one.count, sink, kernels.fault()};
    });
  }

 private:
  /// Digit by digit the threshold of each vector; then what lies above it.
  static void select(CudaKernels& kernels, const SelectedTable& table) {
    const std::int64_t blocks = table.blocks();
    const auto counted = static_cast<std::size_t>(blocks) * digits;
    auto* found = static_cast<Found*>(kernels.scratch(static_cast<std::size_t>(blocks) * sizeof(Found) +
                                                      table.count * sizeof(Threshold) +
                                                      counted * digit_passes * sizeof(std::uint32_t)));
    auto* thresholds = reinterpret_cast<Threshold*>(found + blocks);
    auto* counts = reinterpret_cast<std::uint32_t*>(thresholds + table.count);
    launch("encode", kernels, begin_thresholds, 1, SelectedTable::most, table, thresholds);
    for (int pass = 0; pass < digit_passes; ++pass) {
      std::uint32_t* own = counts + static_cast<std::size_t>(pass) * counted;
      launch("encode", kernels, count_digits, blocks, counting_threads, table, thresholds, pass, own);
      launch("encode", kernels, choose_digit, table.count, digits, own, table.blocks_each, pass, thresholds);
    }
    launch("encode", kernels, tally, blocks, warp_lanes, counts, table.blocks_each, thresholds, found);
    launch("encode", kernels, write_kept, blocks, counting_threads, table, thresholds, found);
  }
};

}  // namespace
}  // namespace cuda

namespace {

const Codecs::Registration registration("cuda/top_k", TopKModel::description(),
                                        [](Params& params) { return std::make_unique<cuda::TopK>(params); });

}  // namespace
}  // namespace trigram
