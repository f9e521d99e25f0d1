// qsgd on device memory: whole buckets of 512 with codes of 8 bits in one pass, all else in a pass for norms and one
// for codes.
#include "kernels/codecs/bit_packing.hpp"
#include "kernels/codecs/qsgd.hpp"
#include "kernels/cuda/codec.hpp"
#include "kernels/cuda/qsgd_bucket.hpp"

namespace trigram {
namespace cuda {
namespace {

constexpr int packed_run = 8;  // elements whose codes of any width end at a whole byte

/// Codes of 8 bits in buckets that no group of 16 leaves.
struct BytesFrame {
  static constexpr int width = 16;
  const std::uint8_t* frame;
  QsgdLayout layout;

  template <int N>
  struct Codes {
    std::uint8_t codes[N];
    float norm;
  };
  template <int N>
  __device__ __forceinline__ void load(std::int64_t i, Codes<N>& codes) const {
    read<N>(frame + layout.header_bytes + i, codes.codes);
    codes.norm = layout.norm(frame, layout.bucket_of(i));
  }
  template <int N>
  __device__ __forceinline__ void decode(std::int64_t, const Codes<N>& codes, float (&values)[N]) const {
    const float step = codes.norm / static_cast<float>(layout.levels);
#pragma unroll
    for (int j = 0; j < N; ++j) values[j] = qsgd_value(codes.codes[j], step);
  }
};

/// Codes of any width, a thread eight.
template <class Sink>
__global__ void __launch_bounds__(block_threads)
    decode_packed(const std::uint8_t* frame, const __grid_constant__ QsgdLayout layout, float* values, Sink sink) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x * packed_run;
  for (std::int64_t begin = (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * packed_run;
       begin < layout.count; begin += stride) {
    const std::int64_t rest = layout.count - begin;
    const std::int64_t size = rest < packed_run ? rest : packed_run;
    std::uint32_t codes[packed_run];
    unpack_bits(frame + layout.header_bytes + begin / 8 * layout.width, size, layout.width, codes);
    for (std::int64_t j = 0; j < size; ++j) {
      const float norm = layout.norm(frame, layout.bucket_of(begin + j));
      float& out = values[begin + j];
      out = sink.of(qsgd_value(codes[j], norm / static_cast<float>(layout.levels)), out);
    }
  }
}

/// The same way back.
__global__ void __launch_bounds__(block_threads)
    encode_packed(const float* values, const __grid_constant__ QsgdLayout layout, std::uint8_t* frame) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x * packed_run;
  for (std::int64_t begin = (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * packed_run;
       begin < layout.count; begin += stride) {
    const std::int64_t rest = layout.count - begin;
    const std::int64_t size = rest < packed_run ? rest : packed_run;
    std::uint32_t codes[packed_run];
    if (layout.stochastic) {
      philox_block(layout.stream, static_cast<std::uint64_t>(begin / 4), codes);
      philox_block(layout.stream, static_cast<std::uint64_t>(begin / 4 + 1), codes + 4);
    }
    for (std::int64_t j = 0; j < size; ++j) {
      const float norm = layout.norm(frame, layout.bucket_of(begin + j));
      const float draw = layout.stochastic ? qsgd_draw(codes[j]) : 0.5F;
      codes[j] = qsgd_code(values[begin + j], norm, static_cast<float>(layout.levels), draw);
    }
    pack_bits(codes, size, layout.width, frame + layout.header_bytes + begin / 8 * layout.width);
  }
}

template <class Norm>
void encode_any(CudaKernels& kernels, const float* values, const QsgdLayout& layout, std::uint8_t* frame) {
  write_norms<Norm>(kernels, "encode", values, layout, frame);
  launch("encode", kernels, encode_packed, blocks_for(kernels, layout.count, block_threads * packed_run), block_threads,
         values, layout, frame);
}

template <class Norm, class Source>
void encode_in_one_pass(const CudaKernels& kernels, const char* operation, const Source& source,
                        const QsgdLayout& layout, std::uint8_t* frame) {
  const std::int64_t buckets = layout.header_bytes / 4;
  launch(operation, kernels, encode_buckets<Norm, Source>, blocks_for(kernels, buckets, tree_warps), block_threads,
         source, layout, buckets, frame);
}

class Qsgd final : public CudaCodec<Qsgd, QsgdModel> {
 public:
  using CudaCodec::CudaCodec;

  void encode_values(CudaKernels& kernels, const float* values, std::uint8_t* frame, std::int64_t count,
                     const Key& key) const {
    const QsgdLayout layout = layout_of(count, key);
    if (is_one_pass(layout))
      return encode_fused(kernels, "encode", GivenBucket{values, all_wide(values)}, layout, frame);
    max_norm() ? encode_any<MaxNorm>(kernels, values, layout, frame)
               : encode_any<TwoNorm>(kernels, values, layout, frame);
  }

  template <class Sink>
  void decode_values(const CudaKernels& kernels, const std::uint8_t* frame, float* values, std::int64_t count,
                     const Key& key, const Sink& sink) const {
    const QsgdLayout layout = layout_of(count, key);
    if (layout.width == 8 && layout.bucket % BytesFrame::width == 0) {
      return decode_groups(kernels, BytesFrame{frame, layout}, values, count, sink,
                           all_wide(frame + layout.header_bytes));
    }
    launch("decode", kernels, decode_packed<Sink>, blocks_for(kernels, count, block_threads * packed_run),
           block_threads, frame, layout, values, sink);
  }

  bool reduce_values(const CudaKernels& kernels, const FrameTable& table, float scale, float*, std::uint8_t* out,
                     std::int64_t count, const Key& key) const {
    const QsgdLayout layout = layout_of(count, key);
    if (!is_one_pass(layout)) return false;
    encode_fused(kernels, "decode_reduce_encode", DecodedBucket{table, scale}, layout, out);
    return true;
  }

 private:
  static bool is_one_pass(const QsgdLayout& layout) { return layout.bucket == warp_bucket && layout.width == 8; }

  QsgdLayout layout_of(std::int64_t count, const Key& key) const {
    return {count, bucket_of(count), header_bytes(count), levels(), width(), stochastic(), PhiloxStream(Philox(key))};
  }

  template <class Source>
  void encode_fused(const CudaKernels& kernels, const char* operation, const Source& source, const QsgdLayout& layout,
                    std::uint8_t* frame) const {
    max_norm() ? encode_in_one_pass<MaxNorm>(kernels, operation, source, layout, frame)
               : encode_in_one_pass<TwoNorm>(kernels, operation, source, layout, frame);
  }
};

}  // namespace
}  // namespace cuda

namespace {

const Codecs::Registration registration("cuda/qsgd", QsgdModel::description(),
                                        [](Params& params) { return std::make_unique<cuda::Qsgd>(params); });

}  // namespace
}  // namespace trigram
