// one_bit on device memory: one pass writes the signs, a warp's ballot a word, and adds magnitudes by the fixed tree; a
// last step writes the scale.
#include "kernels/codecs/one_bit.hpp"
#include "kernels/cuda/codec.hpp"
#include "kernels/cuda/tree_sum.hpp"

namespace trigram {
namespace cuda {
namespace {

constexpr std::int64_t header_bytes = OneBitModel::header_bytes;

struct ReadyFrame {
  static constexpr int width = 8;
  const std::uint8_t* bits;
  std::uint32_t scale;

  template <int N>
  struct Codes {
    std::uint8_t byte;
  };
  template <int N>
  __device__ __forceinline__ void load(std::int64_t i, Codes<N>& codes) const {
    codes.byte = bits[i / 8];
  }
  template <int N>
  __device__ __forceinline__ void decode(std::int64_t i, const Codes<N>& codes, float (&values)[N]) const {
#pragma unroll
    for (int j = 0; j < N; ++j) values[j] = one_bit_value(scale, codes.byte, static_cast<std::uint32_t>(i % 8) + j);
  }
};

struct Frame {
  static constexpr int width = ReadyFrame::width;
  const std::uint8_t* frame;

  template <int N>
  using Codes = ReadyFrame::Codes<N>;
  __device__ ReadyFrame prepared() const { return {frame + header_bytes, scalar::bits_of(load<float>(frame))}; }
};

/// Values that are there.
struct GivenValues {
  const float* values;
  __device__ __forceinline__ void begin() const {}
  __device__ __forceinline__ float operator()(std::int64_t i) const { return values[i]; }
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
  __device__ __forceinline__ float operator()(std::int64_t i) const {
    float sum = 0.0F;
#pragma unroll 4
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

/// Writes the signs of one tree block; returns the lane's sum of magnitudes. All lanes must call.
template <class Values>
__device__ __forceinline__ double write_signs(const Values& values, std::int64_t begin, std::int64_t count,
                                              std::uint8_t* bits) {
  constexpr int rows = 8;  // in flight
  const int lane = static_cast<int>(threadIdx.x % warp_lanes);
  double sum = 0.0;
  for (std::int64_t batch = begin; batch < begin + scalar::tree_block && batch < count;
       batch += warp_lanes * warp_lanes) {
    std::uint32_t own = 0;
#pragma unroll
    for (int first = 0; first < warp_lanes; first += rows) {
      float x[rows];
#pragma unroll
      for (int row = 0; row < rows; ++row) {
        const std::int64_t i = batch + (first + row) * warp_lanes + lane;
        x[row] = i < count ? values(i) : 0.0F;
      }
#pragma unroll
      for (int row = 0; row < rows; ++row) {
        sum += static_cast<double>(scalar::from_bits(scalar::magnitude(x[row])));
        const std::uint32_t word = __ballot_sync(all_lanes, x[row] < 0.0F ? 1 : 0);
        own = lane == first + row ? word : own;
      }
    }
    put_word(bits, batch + lane * warp_lanes, count, own);
  }
  return sum;
}

template <class Values>
__global__ void __launch_bounds__(block_threads)
    encode_signs(const __grid_constant__ Values values, std::int64_t count, std::uint8_t* frame, double* partials) {
  values.begin();
  for (std::int64_t partial = blockIdx.x; partial < tree_partials(count); partial += gridDim.x) {
    const std::int64_t block = partial * tree_warps + threadIdx.x / warp_lanes;
    const double sum = tree_halved(write_signs(values, block * scalar::tree_block, count, frame + header_bytes));
    const double total = tree_across_warps(sum, tree_blocks(count) - partial * tree_warps);
    if (threadIdx.x == 0) partials[partial] = total;
  }
}

__global__ void __launch_bounds__(block_threads)
    write_scale(double* partials, std::int64_t partial_count, std::int64_t count, std::uint8_t* frame) {
  const double sum = tree_total(partials, partial_count);
  if (threadIdx.x == 0) put(frame, one_bit_scale(sum, count));
}

template <class Values>
void write_frame(CudaKernels& kernels, const char* operation, const Values& values, std::uint8_t* frame,
                 std::int64_t count) {
  const std::int64_t partials = tree_partials(count);
  auto* room = static_cast<double*>(kernels.scratch(tree_room(partials) * sizeof(double)));
  launch(operation, kernels, encode_signs<Values>, blocks_for(kernels, partials, 1), block_threads, values, count,
         frame, room);
  launch(operation, kernels, write_scale, 1, block_threads, room, partials, count, frame);
}

class OneBit final : public CudaCodec<OneBit, OneBitModel> {
 public:
  void encode_values(CudaKernels& kernels, const float* values, std::uint8_t* frame, std::int64_t count,
                     const Key&) const {
    write_frame(kernels, "encode", GivenValues{values}, frame, count);
  }

  template <class Sink>
  void decode_values(const CudaKernels& kernels, const std::uint8_t* frame, float* values, std::int64_t count,
                     const Key&, const Sink& sink) const {
    decode_groups(kernels, Frame{frame}, values, count, sink, true);
  }

  bool reduce_values(CudaKernels& kernels, const FrameTable& table, float scale, float*, std::uint8_t* out,
                     std::int64_t count, const Key&) const {
    write_frame(kernels, "decode_reduce_encode", DecodedValues{table, scale}, out, count);
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
