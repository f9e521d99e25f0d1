// minmax_uint8 on device memory. The range needs all values before the first level: one pass finds it, by parts, and a
// second writes levels from the end, where the first has left values in the cache.
#include "kernels/codecs/minmax_uint8.hpp"
#include "kernels/cuda/codecs/codec.hpp"
#include "kernels/cuda/codecs/range.hpp"
#include "kernels/cuda/quotient.hpp"

namespace trigram {
namespace cuda {
namespace {

constexpr int group = 4;  // elements that a thread reads or writes at once
constexpr int groups = 4;
constexpr int frames_in_flight = 4;
constexpr std::int64_t header_bytes = MinMaxUint8Model::header_bytes;

/// What levels of one frame mean.
struct Levels {
  Quotient quotient;
  float lower, constant;
  bool is_constant;
  bool quick;  ///< whole numbers stay under 2^22, and the scale is moderate: so is every quotient that is not 0

  __device__ __forceinline__ float value(std::uint8_t level) const {
    return is_constant ? constant : (static_cast<float>(level) + lower) / quotient.divisor;
  }
  /// The same for level j of four, where `quick`; the sum is a whole number and exact.
  template <unsigned j>
  __device__ __forceinline__ float quick_value(std::uint32_t four) const {
    return quotient.of_moderate(raised_byte<j>(four) + (lower - 0x1p23F));
  }
};

__device__ __forceinline__ Levels levels_of(const std::uint8_t* frame) {
  const auto largest = load<float>(frame + 4);
  const scalar::MinMaxGrid grid = scalar::minmax_grid(load<float>(frame), largest);
  const Quotient quotient = Quotient::by(grid.scale);
  return {quotient, grid.lower, largest, grid.constant, grid.small && quotient.quick};
}

/// Levels on any grid, or, several groups at a time, on quick ones.
template <bool quick>
struct ReadyFrame {
  static constexpr int groups = quick ? 8 : 1;
  const std::uint8_t* payload;
  Levels levels;

  template <int N>
  struct Codes {
    std::conditional_t<N == 1, std::uint8_t, std::uint32_t> levels;
  };
  template <int N>
  __device__ __forceinline__ void load(std::int64_t i, Codes<N>& codes) const {
    codes = *reinterpret_cast<const Codes<N>*>(payload + i);
  }
  template <int N>
  __device__ __forceinline__ void decode(std::int64_t, const Codes<N>& codes, float (&values)[N]) const {
    if constexpr (quick && N == 4) {
      for_each_byte(
          [&]<unsigned j>(std::integral_constant<unsigned, j>) { values[j] = levels.quick_value<j>(codes.levels); });
    } else {
#pragma unroll
      for (int j = 0; j < N; ++j) values[j] = levels.value(static_cast<std::uint8_t>(codes.levels >> 8 * j));
    }
  }
};

struct Frame {
  const std::uint8_t* frame;

  template <class Body>
  __device__ __forceinline__ void with_prepared(const Body& body) const {
    const Levels levels = levels_of(frame);
    levels.quick ? body(ReadyFrame<true>{frame + header_bytes, levels})
                 : body(ReadyFrame<false>{frame + header_bytes, levels});
  }
};

/// A vector on its way to a frame.
struct Encoded {
  const float* values;
  std::uint8_t* frame;
  std::int64_t count;
  RangePart* ranges;  ///< one for each block of the first pass
  unsigned range_count;
};
using EncodedTable = PartTable<Encoded>;

/// A rule of go_over that widens a range.
struct Widen {
  const float* values;
  RangePart& part;

  template <int N>
  struct Held {
    float x[N];
  };
  template <int N>
  __device__ __forceinline__ void load(std::int64_t i, Held<N>& held) const {
    read<N>(values + i, held.x);
  }
  template <int N>
  __device__ __forceinline__ void finish(std::int64_t, Held<N>& held) const {
#pragma unroll
    for (int j = 0; j < N; ++j) part.widen(held.x[j]);
  }
};

template <int N>
__global__ void __launch_bounds__(block_threads) find_range(const __grid_constant__ EncodedTable table) {
  const Encoded& own = table.own();
  RangePart part;
  go_over<N>(Widen{own.values, part}, own.count, table.block(), table.blocks_each);
  write_part(part, own.ranges + table.block());
}

/// What levels of all frames of a sum mean, in shared memory; the same in every thread. All threads must call.
struct SharedLevels {
  const Levels* of;
  bool quick;
};
__device__ __forceinline__ SharedLevels shared_levels(const FrameTable& table) {
  __shared__ Levels levels[FrameTable::most];
  bool quick = true;
  for (int f = static_cast<int>(threadIdx.x); f < table.count; f += static_cast<int>(blockDim.x)) {
    levels[f] = levels_of(table.frames[f]);
  }
  __syncthreads();
  for (int f = 0; f < table.count; ++f) quick = quick && levels[f].quick;
  return {levels, quick};
}

/// sums[k] += four values of every frame each, from elements i + 4·block_threads·k on, where all frames are quick.
template <int count>
__device__ __forceinline__ void add_quickly(const FrameTable& table, const Levels* levels, std::int64_t i,
                                            float (&sums)[count][group]) {
  for_frames<frames_in_flight>(table.count, [&]<int n>(std::integral_constant<int, n>, int first) {
    std::uint32_t codes[n][count];
#pragma unroll
    for (int f = 0; f < n; ++f) {
      const auto* from = reinterpret_cast<const std::uint32_t*>(table.frames[first + f] + header_bytes + i);
#pragma unroll
      for (int k = 0; k < count; ++k) codes[f][k] = from[k * block_threads];
    }
#pragma unroll
    for (int f = 0; f < n; ++f) {
      const Levels meaning = levels[first + f];
#pragma unroll
      for (int k = 0; k < count; ++k) {
        for_each_byte([&]<unsigned j>(std::integral_constant<unsigned, j>) {
          sums[k][j] += meaning.quick_value<j>(codes[f][k]);
        });
      }
    }
  });
}

/// sum = scale·Σ frames, and its range.
struct SumOfFrames {
  const FrameTable& table;
  const Levels* levels;
  float scale;
  float* sum;
  RangePart& part;

  template <int count>
  __device__ __forceinline__ void add_groups(std::int64_t i) const {
    float sums[count][group] = {};
    add_quickly(table, levels, i, sums);
#pragma unroll
    for (int k = 0; k < count; ++k) {
#pragma unroll
      for (int j = 0; j < group; ++j) {
        sums[k][j] = scale * sums[k][j];
        part.widen(sums[k][j]);
      }
      write<group>(sums[k], sum + i + k * std::int64_t{group * block_threads});
    }
  }
  __device__ __forceinline__ void add_one(std::int64_t i) const {
    float value = 0.0F;
    for (int f = 0; f < table.count; ++f) value += levels[f].value(table.frames[f][header_bytes + i]);
    sum[i] = scale * value;
    part.widen(sum[i]);
  }
};

/// `wide` allows access to four elements at once.
__global__ void __launch_bounds__(block_threads)
    add_frames(const __grid_constant__ FrameTable table, float scale, float* sum, std::int64_t count, bool wide,
               RangePart* parts) {
  const SharedLevels levels = shared_levels(table);
  RangePart part;
  const SumOfFrames rule{table, levels.of, scale, sum, part};
  const std::int64_t fours = wide && levels.quick ? count / group : 0;
  constexpr std::int64_t tile = std::int64_t{block_threads} * groups;
  for (std::int64_t begin = blockIdx.x * tile; begin < fours; begin += gridDim.x * tile) {
    if (begin + tile <= fours) {
      rule.add_groups<groups>((begin + threadIdx.x) * group);
      continue;
    }
#pragma unroll 1
    for (std::int64_t four = begin + threadIdx.x; four < fours; four += block_threads) rule.add_groups<1>(four * group);
  }
#pragma unroll 1
  for (std::int64_t i = fours * group + static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x; i < count;
       i += static_cast<std::int64_t>(gridDim.x) * block_threads) {
    rule.add_one(i);
  }
  write_part(part, parts + blockIdx.x);
}

/// A rule of go_over that writes levels, groups from the last on: the first pass has left those in the cache.
template <bool small>
struct WriteLevels {
  static constexpr int groups = small ? 4 : 1;
  const float* values;
  const scalar::MinMaxGrid& grid;
  std::uint8_t* levels;
  std::int64_t whole;  ///< elements in groups

  template <int N>
  struct Held {
    float x[N];
  };
  template <int N>
  __device__ __forceinline__ std::int64_t place(std::int64_t i) const {
    return N == 1 ? i : whole - N - i;
  }
  template <int N>
  __device__ __forceinline__ void load(std::int64_t i, Held<N>& held) const {
    read<N>(values + place<N>(i), held.x);
  }
  template <int N>
  __device__ __forceinline__ void finish(std::int64_t i, Held<N>& held) const {
    std::uint8_t codes[N];
#pragma unroll
    for (int j = 0; j < N; ++j) {
      codes[j] = small ? scalar::minmax_small_level(held.x[j], grid) : scalar::minmax_level(held.x[j], grid);
      if (!small && grid.constant) codes[j] = 0;
    }
    write<N>(codes, levels + place<N>(i));
  }
};

template <int N>
__global__ void __launch_bounds__(block_threads) write_frame(const __grid_constant__ EncodedTable table) {
  const Encoded& own = table.own();
  const ValueRange range = whole_range(own.ranges, own.range_count);
  const scalar::MinMaxGrid grid = scalar::minmax_grid(range.smallest, range.largest);
  std::uint8_t* levels = own.frame + header_bytes;
  const std::int64_t whole = own.count / N * N;
  if (grid.small) {
    go_over<N>(WriteLevels<true>{own.values, grid, levels, whole}, own.count, table.block(), table.blocks_each);
  } else {
    go_over<N>(WriteLevels<false>{own.values, grid, levels, whole}, own.count, table.block(), table.blocks_each);
  }
  if (table.block() != 0) return;
  const std::int64_t beyond = own.count + threadIdx.x;
  if (beyond < (own.count + 31) / 32 * 32) levels[beyond] = 0;
  if (threadIdx.x < header_bytes / 4) {
    put(own.frame + 4 * threadIdx.x, threadIdx.x == 0 ? range.smallest : threadIdx.x == 1 ? range.largest : 0.0F);
  }
}

/// Calls run(table) for the vectors, with blocks of `kernel`, and room for the range that each finds.
template <class Kernel, class Run>
void by_ranges(CudaKernels& kernels, Kernel* kernel, VectorFrames all, const Run& run) {
  by_tables(
      kernels, kernel, all, block_threads * group * groups,
      [](const VectorFrame& one) {
        return Encoded{one.values, one.frame, one.count, nullptr, 0};
      },
      [](const VectorFrame& one) { return one.count; },
      [&](EncodedTable& table) {
        auto* ranges =
            static_cast<RangePart*>(kernels.scratch(static_cast<std::size_t>(table.blocks()) * sizeof(RangePart)));
        for (unsigned part = 0; part < table.count; ++part) {
          table.parts[part].ranges = ranges + part * table.blocks_each;
          table.parts[part].range_count = table.blocks_each;
        }
        run(table);
      });
}

void write_frames(const CudaKernels& kernels, const EncodedTable& table, bool wide) {
  launch("encode", kernels, wide ? write_frame<group> : write_frame<1>, table.blocks(), block_threads, table);
}

class MinMaxUint8 final : public CudaCodec<MinMaxUint8, MinMaxUint8Model> {
 public:
  void encode_all_of(CudaKernels& kernels, VectorFrames all) const {
    const bool wide = wide_values(all);
    const auto first_pass = wide ? find_range<group> : find_range<1>;
    by_ranges(kernels, first_pass, all, [&](const EncodedTable& table) {
      launch("encode", kernels, first_pass, table.blocks(), block_threads, table);
      write_frames(kernels, table, wide && aligned_frames(all, 4));
    });
  }

  template <class Sink>
  void decode_all_of(const CudaKernels& kernels, VectorFrames all, const Sink& sink) const {
    decode_groups(kernels, all, sink, aligned_frames(all, 4), [](const VectorFrame& one) { return Frame{one.frame}; });
  }

  bool reduce_values(CudaKernels& kernels, const FrameTable& table, float scale, const VectorFrame& own) const {
    by_ranges(kernels, add_frames, VectorFrames(&own, 1), [&](const EncodedTable& one) {
      const bool wide = all_wide(own.values);
      launch("decode_reduce_encode", kernels, add_frames, one.blocks(), block_threads, table, scale, own.values,
             own.count, wide && table.aligned_at(0, 4), one.parts[0].ranges);
      write_frames(kernels, one, wide && is_aligned(own.frame, 4));
    });
    return true;
  }
};

}  // namespace
}  // namespace cuda

namespace {

const Codecs::Registration registration("cuda/minmax_uint8", MinMaxUint8Model::description(),
                                        [](Params&) { return std::make_unique<cuda::MinMaxUint8>(); });

}  // namespace
}  // namespace trigram
