// minmax_uint8 on device memory. The range needs all values before the first level: one pass finds it, by parts, and a
// second writes levels from the end, where the first has left values in the cache.
#include "kernels/codecs/minmax_uint8.hpp"
#include "kernels/cuda/codec.hpp"
#include "kernels/cuda/quotient.hpp"
#include "kernels/cuda/range.hpp"

namespace trigram {
namespace cuda {
namespace {

constexpr int group = 16;  // levels of one 16-byte access
constexpr int frames_in_flight = 4;
constexpr std::int64_t header_bytes = MinMaxUint8Model::header_bytes;

/// What levels of one frame mean.
struct Levels {
  Quotient quotient;
  float lower, constant;
  bool is_constant;

  __device__ __forceinline__ float value(std::uint8_t level) const {
    return is_constant ? constant : quotient.of(static_cast<float>(level) + lower);
  }
};

__device__ __forceinline__ Levels levels_of(const std::uint8_t* frame) {
  const auto largest = load<float>(frame + 4);
  const scalar::MinMaxGrid grid = scalar::minmax_grid(load<float>(frame), largest);
  return {Quotient::by(grid.scale), grid.lower, largest, grid.constant};
}

struct ReadyFrame {
  static constexpr int width = group;
  const std::uint8_t* payload;
  Levels levels;

  template <int N>
  struct Codes {
    std::uint8_t levels[N];
  };
  template <int N>
  __device__ __forceinline__ void load(std::int64_t i, Codes<N>& codes) const {
    read<N>(payload + i, codes.levels);
  }
  template <int N>
  __device__ __forceinline__ void decode(std::int64_t, const Codes<N>& codes, float (&values)[N]) const {
#pragma unroll
    for (int j = 0; j < N; ++j) values[j] = levels.value(codes.levels[j]);
  }
};

struct Frame {
  static constexpr int width = ReadyFrame::width;
  const std::uint8_t* frame;

  template <int N>
  using Codes = ReadyFrame::Codes<N>;
  __device__ ReadyFrame prepared() const { return {frame + header_bytes, levels_of(frame)}; }
};

/// A vector on its way to a frame.
struct Encoded {
  const float* values;
  std::uint8_t* frame;
  std::int64_t count;
  RangePart* ranges;  ///< one for each of its blocks
};
using EncodedTable = PartTable<Encoded>;

template <int N>
__global__ void __launch_bounds__(block_threads) find_range(const __grid_constant__ EncodedTable table) {
  const Encoded& own = table.own();
  RangePart part;
  const std::int64_t stride = static_cast<std::int64_t>(table.blocks_each) * blockDim.x;
  const std::int64_t first = table.block() * blockDim.x + threadIdx.x;
#pragma unroll 4
  for (std::int64_t i = first; i < own.count / N; i += stride) {
    float x[N];
    read<N>(own.values + i * N, x);
#pragma unroll
    for (int j = 0; j < N; ++j) part.widen(x[j]);
  }
  const std::int64_t last = own.count / N * N + first;
  if (last < own.count) part.widen(own.values[last]);
  write_part(part, own.ranges + table.block());
}

/// sum = scale·Σ frames, and its range.
template <int N>
__global__ void __launch_bounds__(block_threads) add_frames(const __grid_constant__ FrameTable table, float scale,
                                                            float* sum, std::int64_t count, RangePart* parts) {
  __shared__ Levels levels[FrameTable::most];
  for (int f = static_cast<int>(threadIdx.x); f < table.count; f += static_cast<int>(blockDim.x)) {
    levels[f] = levels_of(table.frames[f]);
  }
  __syncthreads();
  RangePart part;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  const auto add_group = [&]<int size>(std::int64_t i, std::integral_constant<int, size>) {
    float values[size] = {};
    for (int first = 0; first < table.count; first += frames_in_flight) {
      std::uint8_t codes[frames_in_flight][size];
#pragma unroll
      for (int k = 0; k < frames_in_flight; ++k) {
        if (first + k < table.count) read<size>(table.frames[first + k] + header_bytes + i, codes[k]);
      }
#pragma unroll
      for (int k = 0; k < frames_in_flight; ++k) {
        if (first + k >= table.count) break;
        const Levels meaning = levels[first + k];
#pragma unroll
        for (int j = 0; j < size; ++j) values[j] += meaning.value(codes[k][j]);
      }
    }
#pragma unroll
    for (int j = 0; j < size; ++j) {
      values[j] = scale * values[j];
      part.widen(values[j]);
    }
    write<size>(values, sum + i);
  };
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (std::int64_t i = first; i < count / N; i += stride) add_group(i * N, std::integral_constant<int, N>());
  const std::int64_t last = count / N * N + first;
  if (last < count) add_group(last, std::integral_constant<int, 1>());
  write_part(part, parts + blockIdx.x);
}

template <int N>
__device__ __forceinline__ void write_group(const float* values, const scalar::MinMaxGrid& grid, std::uint8_t* levels,
                                            std::int64_t i) {
  float x[N];
  std::uint8_t codes[N];
  read<N>(values + i, x);
#pragma unroll
  for (int j = 0; j < N; ++j) {
    codes[j] = grid.small ? scalar::minmax_small_level(x[j], grid) : scalar::minmax_level(x[j], grid);
    if (grid.constant) codes[j] = 0;
  }
  write<N>(codes, levels + i);
}

template <int N>
__global__ void __launch_bounds__(block_threads) write_frame(const __grid_constant__ EncodedTable table) {
  const Encoded& own = table.own();
  const ValueRange range = whole_range(own.ranges, table.blocks_each);
  const scalar::MinMaxGrid grid = scalar::minmax_grid(range.smallest, range.largest);
  std::uint8_t* levels = own.frame + header_bytes;
  const std::int64_t groups = own.count / N;
  const std::int64_t stride = static_cast<std::int64_t>(table.blocks_each) * blockDim.x;
  for (std::int64_t i = table.block() * blockDim.x + threadIdx.x; i < groups; i += stride) {
    write_group<N>(own.values, grid, levels, (groups - 1 - i) * N);
  }
  if (table.block() != 0) return;
  const std::int64_t last = groups * N + threadIdx.x;
  if (last < own.count) write_group<1>(own.values, grid, levels, last);
  const std::int64_t beyond = own.count + threadIdx.x;
  if (beyond < (own.count + 31) / 32 * 32) levels[beyond] = 0;
  if (threadIdx.x < header_bytes / 4) {
    put(own.frame + 4 * threadIdx.x, threadIdx.x == 0 ? range.smallest : threadIdx.x == 1 ? range.largest : 0.0F);
  }
}

/// Calls run(table) for the vectors, with room for the ranges of their blocks.
template <class Run>
void by_ranges(CudaKernels& kernels, VectorFrames all, const Run& run) {
  by_tables(
      kernels, all, block_threads * group,
      [](const VectorFrame& one) {
        return Encoded{one.values, one.frame, one.count, nullptr};
      },
      [](const VectorFrame& one) { return one.count; },
      [&](EncodedTable& table) {
        auto* ranges =
            static_cast<RangePart*>(kernels.scratch(static_cast<std::size_t>(table.blocks()) * sizeof(RangePart)));
        for (unsigned part = 0; part < table.count; ++part)
          table.parts[part].ranges = ranges + part * table.blocks_each;
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
    by_ranges(kernels, all, [&](const EncodedTable& table) {
      launch("encode", kernels, wide ? find_range<4> : find_range<1>, table.blocks(), block_threads, table);
      write_frames(kernels, table, wide && wide_frames(all));
    });
  }

  template <class Sink>
  void decode_all_of(const CudaKernels& kernels, VectorFrames all, const Sink& sink) const {
    decode_groups(kernels, all, sink, wide_frames(all), [](const VectorFrame& one) { return Frame{one.frame}; });
  }

  bool reduce_values(CudaKernels& kernels, const FrameTable& table, float scale, const VectorFrame& own) const {
    by_ranges(kernels, VectorFrames(&own, 1), [&](const EncodedTable& one) {
      const bool wide = all_wide(own.values);
      launch("decode_reduce_encode", kernels, wide && table.wide_at(0) ? add_frames<group> : add_frames<1>,
             one.blocks(), block_threads, table, scale, own.values, own.count, one.parts[0].ranges);
      write_frames(kernels, one, wide && all_wide(own.frame));
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
