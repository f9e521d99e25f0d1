// qsgd on device memory: whole buckets of 512 with codes of 8 bits in one pass, all else in a pass for norms and one
// for codes.
#include "kernels/codecs/bit_packing.hpp"
#include "kernels/codecs/qsgd.hpp"
#include "kernels/cuda/codecs/codec.hpp"
#include "kernels/cuda/codecs/qsgd/qsgd_bucket.hpp"

namespace trigram {
namespace cuda {
namespace {

constexpr int packed_run = 8;  // elements whose codes of any width end at a whole byte

/// Codes of 8 bits in buckets that no group of four leaves: codes lie at a multiple of four bytes wherever norms end,
/// and a warp writes 512 bytes in one piece.
struct BytesFrame {
  const std::uint8_t* frame;
  QsgdLayout layout;

  struct Ready {
    const std::uint8_t* frame;
    const QsgdLayout& layout;
    Quotient by_levels;

    template <int N>
    struct Codes {
      std::uint32_t codes;
      float norm;
    };
    template <int N>
    __device__ __forceinline__ void load(std::int64_t i, Codes<N>& codes) const {
      const std::uint8_t* from = frame + layout.header_bytes + i;
      const std::int64_t bucket = layout.bucket_of(i);
      if constexpr (N == 1) {
        codes = {*from, layout.norm(frame, bucket)};
      } else {
        codes = {*reinterpret_cast<const std::uint32_t*>(from), reinterpret_cast<const float*>(frame)[bucket]};
      }
    }
    template <int N>
    __device__ __forceinline__ void decode(std::int64_t, const Codes<N>& codes, float (&values)[N]) const {
      const float step = by_levels.of(codes.norm);
      if constexpr (N == 1) {
        values[0] = qsgd_value(codes.codes, step);
      } else {
        decode_four(codes.codes, step, values);
      }
    }
  };
  template <int N>
  using Codes = Ready::Codes<N>;
  __device__ __forceinline__ Ready prepared() const {
    return {frame, layout, Quotient::by(static_cast<float>(layout.levels))};
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
  launch("encode", kernels, encode_packed, Work{layout.count, block_threads * packed_run}, block_threads, values,
         layout, frame);
}

/// Encodes all, each from the Source that make(vector) gives.
template <class Norm, class Make, class Layout>
void encode_in_one_pass(const CudaKernels& kernels, const char* operation, VectorFrames all, const Make& make,
                        const Layout& layout_of) {
  using Source = std::remove_cvref_t<decltype(make(all.front()))>;
  by_tables(
      kernels, encode_buckets<Norm, Source>, all, tree_warps,
      [&](const VectorFrame& one) {
        return BucketsPart<Source>{make(one), layout_of(one.count, one.key), one.frame};
      },
      [&](const VectorFrame& one) { return layout_of(one.count, one.key).buckets(); },
      [&](const PartTable<BucketsPart<Source>>& table) {
        launch(operation, kernels, encode_buckets<Norm, Source>, table.blocks(), block_threads, table);
      });
}

class Qsgd final : public CudaCodec<Qsgd, QsgdModel> {
 public:
  using CudaCodec::CudaCodec;

  void encode_all_of(CudaKernels& kernels, VectorFrames all) const {
    if (is_one_pass(all)) {
      return encode_fused(kernels, "encode", all, [](const VectorFrame& one) {
        return GivenBucket{one.values, all_wide(one.values)};
      });
    }
    for (const VectorFrame& one : all) {
      const QsgdLayout layout = layout_of(one.count, one.key);
      max_norm() ? encode_any<MaxNorm>(kernels, one.values, layout, one.frame)
                 : encode_any<TwoNorm>(kernels, one.values, layout, one.frame);
    }
  }

  template <class Sink>
  void decode_all_of(const CudaKernels& kernels, VectorFrames all, const Sink& sink) const {
    const auto by_fours = [&](const VectorFrame& one) {
      const QsgdLayout layout = layout_of(one.count, one.key);
      return layout.width == 8 && layout.bucket % 4 == 0;
    };
    if (std::ranges::all_of(all, by_fours)) {
      return decode_groups(kernels, all, sink, aligned_frames(all, 4), [&](const VectorFrame& one) {
        return BytesFrame{one.frame, layout_of(one.count, one.key)};
      });
    }
    for (const VectorFrame& one : all) {
      launch("decode", kernels, decode_packed<Sink>, Work{one.count, block_threads * packed_run}, block_threads,
             one.frame, layout_of(one.count, one.key), one.values, sink);
    }
  }

  bool reduce_values(const CudaKernels& kernels, const FrameTable& table, float scale, const VectorFrame& own) const {
    if (!is_one_pass(VectorFrames(&own, 1))) return false;
    encode_fused(kernels, "decode_reduce_encode", VectorFrames(&own, 1), [&](const VectorFrame&) {
      return DecodedBucket{table, scale, table.aligned_at(0, 4)};
    });
    return true;
  }

 private:
  bool is_one_pass(VectorFrames all) const {
    return width() == 8 &&
           std::ranges::all_of(all, [&](const VectorFrame& one) { return bucket_of(one.count) == warp_bucket; });
  }

  QsgdLayout layout_of(std::int64_t count, const Key& key) const {
    const auto bucket = static_cast<std::uint64_t>(bucket_of(count));
    const int shift = std::has_single_bit(bucket) ? std::countr_zero(bucket) : -1;
    return {count, bucket_of(count),         header_bytes(count), levels(), width(), stochastic(),
            shift, PhiloxStream(Philox(key))};
  }

  template <class Make>
  void encode_fused(const CudaKernels& kernels, const char* operation, VectorFrames all, const Make& make) const {
    const auto layout = [this](std::int64_t count, const Key& key) { return layout_of(count, key); };
    max_norm() ? encode_in_one_pass<MaxNorm>(kernels, operation, all, make, layout)
               : encode_in_one_pass<TwoNorm>(kernels, operation, all, make, layout);
  }
};

}  // namespace
}  // namespace cuda

namespace {

const Codecs::Registration registration("cuda/qsgd", QsgdModel::description(),
                                        [](Params& params) { return std::make_unique<cuda::Qsgd>(params); });

}  // namespace
}  // namespace trigram
