// one_bit on device memory: one pass writes the signs, a warp's ballot a word, and adds magnitudes by the fixed tree; a
// last step writes the scale.
#include "kernels/codecs/one_bit.hpp"
#include "kernels/cuda/codecs/bit_frame.hpp"
#include "kernels/cuda/codecs/codec.hpp"
#include "kernels/cuda/codecs/one_bit_sums.hpp"
#include "kernels/cuda/tree_sum.hpp"

namespace trigram {
namespace cuda {
namespace {

constexpr std::int64_t header_bytes = OneBitModel::header_bytes;

struct ReadyFrame : BitFrame {
  std::uint32_t scale;

  template <int N>
  __device__ __forceinline__ void decode(std::int64_t i, const Codes<N>& codes, float (&values)[N]) const {
#pragma unroll
    for (int j = 0; j < N; ++j) values[j] = one_bit_value(scale, codes.byte >> i % 8, static_cast<std::uint32_t>(j));
  }
};

struct Frame {
  const std::uint8_t* frame;

  template <int N>
  using Codes = BitFrame::Codes<N>;
  __device__ ReadyFrame prepared() const { return {{frame + header_bytes}, scalar::bits_of(load<float>(frame))}; }
};

/// Values that are there.
struct GivenValues {
  const float* values;
  __device__ __forceinline__ void begin() const {}
  __device__ __forceinline__ void begin_batch(std::int64_t, std::int64_t, bool) const {}
  __device__ __forceinline__ float value(std::int64_t begin, int row) const {
    return values[begin + threadIdx.x % warp_lanes + row * warp_lanes];
  }
};

/// scale·Σ frames, which is written nowhere.
struct DecodedValues {
  FrameTable table;
  float factor;

  static __device__ __forceinline__ std::uint32_t* scales() {
    __shared__ std::uint32_t all[FrameTable::most];
    return all;
  }
  __device__ __forceinline__ void begin() const {
    for (int f = static_cast<int>(threadIdx.x); f < table.count; f += static_cast<int>(blockDim.x)) {
      scales()[f] = scalar::bits_of(load<float>(table.frames[f]));
    }
    __syncthreads();
  }
  __device__ __forceinline__ void begin_batch(std::int64_t, std::int64_t, bool) const {}
  __device__ __forceinline__ float value(std::int64_t begin, int row) const {
    const std::int64_t i = begin + threadIdx.x % warp_lanes + row * warp_lanes;
    float sum = 0.0F;
#pragma unroll 1
    for (int f = 0; f < table.count; ++f) {
      const std::uint8_t byte = table.frames[f][header_bytes + i / 8];
      sum += one_bit_value(scales()[f], byte, static_cast<std::uint32_t>(i % 8));
    }
    return factor * sum;
  }
};

/// The word of 32 signs at bit `begin` of a payload; bytes after the last bit are not touched.
__device__ __forceinline__ void put_word(std::uint8_t* bits, std::int64_t begin, std::int64_t count,
                                         std::uint32_t word) {
  if (begin >= count) return;
  std::uint8_t* to = bits + begin / 8;
  if (count - begin >= warp_lanes) return put(to, word);
  for (std::int64_t byte = 0; byte < (count - begin + 7) / 8; ++byte) to[byte] = word >> 8 * byte & 0xffU;
}

constexpr int batch_rows = warp_lanes;  // of 32 elements each, whose signs are a lane's word
constexpr int batch = batch_rows * warp_lanes;

/// The lane's word of the signs of a batch, of which there are `size` elements; adds the lane's magnitudes to `sum`.
template <bool whole, class Values>
__device__ __forceinline__ std::uint32_t batch_signs(const Values& values, std::int64_t begin, int size, double& sum) {
  constexpr int rows = 8;  // in flight
  const int lane = static_cast<int>(threadIdx.x % warp_lanes);
  std::uint32_t own = 0;
#pragma unroll
  for (int first = 0; first < batch_rows; first += rows) {
    float x[rows];
#pragma unroll
    for (int row = 0; row < rows; ++row) {
      const bool there = whole || (first + row) * warp_lanes + lane < size;
      x[row] = there ? values.value(begin, first + row) : 0.0F;
    }
#pragma unroll
    for (int row = 0; row < rows; ++row) {
      sum += static_cast<double>(scalar::from_bits(scalar::magnitude(x[row])));
      const std::uint32_t word = __ballot_sync(all_lanes, x[row] < 0.0F ? 1 : 0);
      own = lane == first + row ? word : own;
    }
  }
  return own;
}

/// Writes the signs of one tree block; returns the lane's sum of magnitudes. All lanes must call.
template <class Values>
__device__ __forceinline__ double write_signs(const Values& values, std::int64_t begin, std::int64_t count,
                                              std::uint8_t* bits) {
  double sum = 0.0;
#pragma unroll 1
  for (int done = 0; done < scalar::tree_block; done += batch) {
    const std::int64_t first = begin + done;
    const std::int64_t rest = count - first;
    const int size = static_cast<int>(rest < 0 ? 0 : rest < batch ? rest : batch);
    const bool whole = __all_sync(all_lanes, size == batch ? 1 : 0) != 0;
    values.begin_batch(first, count, whole);
    const std::uint32_t own =
        whole ? batch_signs<true>(values, first, size, sum) : batch_signs<false>(values, first, size, sum);
    put_word(bits, first + static_cast<std::int64_t>(threadIdx.x % warp_lanes) * warp_lanes, count, own);
  }
  return sum;
}

/// Values on their way to a frame.
template <class Values>
struct Encoded {
  Values values;
  std::uint8_t* frame;
  std::int64_t count;
  double* partials;
};

template <class Values>
__global__ void __launch_bounds__(block_threads)
    encode_signs(const __grid_constant__ PartTable<Encoded<Values>> table) {
  const Encoded<Values>& own = table.own();
  own.values.begin();
  for (std::int64_t partial = table.block(); partial < tree_partials(own.count); partial += table.blocks_each) {
    const std::int64_t block = partial * tree_warps + threadIdx.x / warp_lanes;
    const double sum =
        tree_halved(write_signs(own.values, block * scalar::tree_block, own.count, own.frame + header_bytes));
    const double total = tree_across_warps(sum, tree_blocks(own.count) - partial * tree_warps);
    if (threadIdx.x == 0) own.partials[partial] = total;
  }
}

/// A block a vector.
template <class Values>
__global__ void __launch_bounds__(block_threads) write_scale(const __grid_constant__ PartTable<Encoded<Values>> table) {
  const Encoded<Values>& own = table.own();
  const double sum = tree_total(own.partials, tree_partials(own.count));
  if (threadIdx.x == 0) put(own.frame, one_bit_scale(sum, own.count));
}

/// Encodes all, each from the Values that make(vector) gives.
template <class Make>
void write_frames(CudaKernels& kernels, const char* operation, VectorFrames all, const Make& make) {
  using Values = std::remove_cvref_t<decltype(make(all.front()))>;
  by_tables(
      kernels, encode_signs<Values>, all, 1,
      [&](const VectorFrame& one) {
        return Encoded<Values>{make(one), one.frame, one.count, nullptr};
      },
      [](const VectorFrame& one) { return tree_partials(one.count); },
      [&](PartTable<Encoded<Values>>& table) {
        const std::span parts(table.parts, table.count);
        std::size_t room = 0;
        for (const Encoded<Values>& part : parts) room += tree_room(tree_partials(part.count));
        auto* partials = static_cast<double*>(kernels.scratch(room * sizeof(double)));
        for (Encoded<Values>& part : parts) {
          part.partials = partials;
          partials += tree_room(tree_partials(part.count));
        }
        launch(operation, kernels, encode_signs<Values>, table.blocks(), block_threads, table);
        launch(operation, kernels, write_scale<Values>, table.count, block_threads, table.with_one_block_each());
      });
}

class OneBit final : public CudaCodec<OneBit, OneBitModel> {
 public:
  void encode_all_of(CudaKernels& kernels, VectorFrames all) const {
    write_frames(kernels, "encode", all, [](const VectorFrame& one) { return GivenValues{one.values}; });
  }

  template <class Sink>
  void decode_all_of(const CudaKernels& kernels, VectorFrames all, const Sink& sink) const {
    decode_groups(kernels, all, sink, true, [](const VectorFrame& one) { return Frame{one.frame}; });
  }

  bool reduce_values(CudaKernels& kernels, const FrameTable& table, float scale, const VectorFrame& own) const {
    const VectorFrames one(&own, 1);
    if (table.count <= TabledSums::most_frames && table.aligned_at(0, 4)) {
      write_frames(kernels, "decode_reduce_encode", one, [&](const VectorFrame&) { return TabledSums{table, scale}; });
    } else {
      write_frames(kernels, "decode_reduce_encode", one, [&](const VectorFrame&) {
        return DecodedValues{table, scale};
      });
    }
    return true;
  }
};

}  // namespace
}  // namespace cuda

namespace {

const Codecs::Registration registration("cuda/one_bit", OneBitModel::description(),
                                        [](Params&) { return std::make_unique<cuda::OneBit>(); });

}  // namespace
}  // namespace trigram
