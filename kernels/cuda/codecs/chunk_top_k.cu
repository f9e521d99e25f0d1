// chunk_top_k on device memory: a warp a chunk, whose k-th largest magnitude it finds bit by bit.
#include "kernels/codecs/chunk_top_k.hpp"
#include "kernels/cuda/codecs/kept.hpp"
#include "kernels/cuda/runtime/fault.hpp"
#include "kernels/cuda/warp_rows.hpp"

namespace trigram {
namespace cuda {
namespace {

/// A vector of which each chunk keeps the largest.
struct Chunked {
  const float* values;
  std::uint8_t* frame;
  std::int64_t count;
  ChunkTopKLayout layout;
};
using ChunkedTable = PartTable<Chunked>;

/// How many of these magnitudes are at least `least`, in every lane.
__device__ __forceinline__ std::int64_t reaching(const float* values, std::int64_t size, std::uint32_t least) {
  std::int64_t found = 0;
  for (std::int64_t i = threadIdx.x % warp_lanes; i < size; i += warp_lanes)
    found += scalar::ordered_magnitude(values[i]) >= least ? 1 : 0;
  return over_lanes(found, [](std::int64_t a, std::int64_t b) { return a + b; });
}

/// The k-th largest magnitude, in every lane: the most that k of them reach.
__device__ __forceinline__ std::uint32_t kth_magnitude(const float* values, std::int64_t size, std::int64_t k) {
  std::uint32_t reached = 0;
  for (int bit = 30; bit >= 0; --bit) {
    const std::uint32_t tried = reached | 1U << bit;
    if (reaching(values, size, tried) >= k) reached = tried;
  }
  return reached;
}

__device__ __forceinline__ void put_place(std::uint8_t* places, std::int64_t width, std::int64_t next,
                                          std::int64_t place) {
  if (width == 1) {
    places[next] = static_cast<std::uint8_t>(place);
  } else {
    put(places + 2 * next, static_cast<std::uint16_t>(place));
  }
}

/// Writes what one chunk keeps, in order: all above the threshold, and of those equal to it the first.
__device__ __forceinline__ void write_chunk(const Chunked& all, std::int64_t chunk) {
  const float* const own = all.values + chunk * all.layout.chunk;
  const std::int64_t size = all.layout.size(all.count, chunk);
  const std::int64_t k = all.layout.kept_of(size);
  std::uint8_t* const places = all.frame + 4 * all.layout.kept(all.count);
  const std::uint32_t threshold = kth_magnitude(own, size, k);
  std::int64_t ties = k - reaching(own, size, threshold + 1);
  std::int64_t next = chunk * all.layout.k;
  const auto lane = static_cast<int>(threadIdx.x % warp_lanes);
  const std::uint32_t earlier = (1U << lane) - 1U;
  for (std::int64_t begin = 0; begin < size; begin += warp_lanes) {
    const bool there = begin + lane < size;
    const float value = there ? own[begin + lane] : 0.0F;
    const std::uint32_t magnitude = scalar::ordered_magnitude(value);
    const std::uint32_t equal = __ballot_sync(all_lanes, there && magnitude == threshold ? 1 : 0);
    const bool first = magnitude == threshold && __popc(equal & earlier) < ties;
    const bool keeps = there && (magnitude > threshold || first);
    const std::uint32_t kept = __ballot_sync(all_lanes, keeps ? 1 : 0);
    if (keeps) {
      const std::int64_t at = next + __popc(kept & earlier);
      put(all.frame + 4 * at, scalar::with_one_nan(value));
      put_place(places, all.layout.width(), at, begin + lane);
    }
    next += __popc(kept);
    ties -= __popc(equal);
  }
}

__global__ void __launch_bounds__(block_threads) write_chunks(const __grid_constant__ ChunkedTable table) {
  const Chunked& own = table.own();
  const std::int64_t warp = threadIdx.x / warp_lanes;
  const std::int64_t step = static_cast<std::int64_t>(table.blocks_each) * tree_warps;
  for (std::int64_t chunk = table.block() * tree_warps + warp; chunk < own.layout.chunks(own.count); chunk += step)
    write_chunk(own, chunk);
}

/// Values that are not kept stand as they are.
template <class Sink>
struct ScatterChunks {
  static constexpr int width = 1;
  VectorFrame whole;
  ChunkTopKLayout layout;
  bool marks;
  Sink sink;
  int* fault;

  template <int N>
  struct Held {
    std::int64_t index;  ///< −1 where the frame names what its chunk has not
    float value;
    float before;
  };
  __device__ void load(std::int64_t j, Held<1>& held) const {
    const std::uint8_t* const places = whole.frame + 4 * layout.kept(whole.count);
    const std::int64_t chunk = j / layout.k;
    const std::int64_t place = layout.width() == 1 ? places[j] : cuda::load<std::uint16_t>(places + 2 * j);
    held.index = place < layout.size(whole.count, chunk) ? chunk * layout.chunk + place : -1;
    held.value = marks ? 1.0F : cuda::load<float>(whole.frame + 4 * j);
    if constexpr (Sink::reads) held.before = held.index >= 0 ? whole.values[held.index] : 0.0F;
  }
  __device__ void finish(std::int64_t, Held<1>& held) const {
    if (held.index >= 0) {
      whole.values[held.index] = sink.of(held.value, held.before);
    } else {
      raise_fault(fault, foreign_chunk_top_k_frame);
    }
  }
};

class ChunkTopK final : public CudaCodec<ChunkTopK, ChunkTopKModel> {
 public:
  using CudaCodec::CudaCodec;

  void encode_all_of(const CudaKernels& kernels, VectorFrames all) const {
    by_tables(
        kernels, write_chunks, all, tree_warps,
        [this](const VectorFrame& one) {
          return Chunked{one.values, one.frame, one.count, layout()};
        },
        [this](const VectorFrame& one) { return layout().chunks(one.count); },
        [&](const ChunkedTable& table) {
          launch("encode", kernels, write_chunks, table.blocks(), block_threads, table);
        });
  }

  template <class Sink>
  void decode_all_of(const CudaKernels& kernels, VectorFrames all, const Sink& sink) const {
    begin_decoding(kernels, all, sink);
    const std::vector<KeptFrame> frames = kept_frames(all, [this](std::int64_t count) { return layout().kept(count); });
    run_over_parts("decode", kernels, std::span<const KeptFrame>(frames), false, [&](const KeptFrame& one) {
      return ScatterChunks<Sink>{one.whole, layout(), marks(), sink, kernels.fault()};
    });
  }
};

}  // namespace
}  // namespace cuda

namespace {

const Codecs::Registration registration("cuda/chunk_top_k", ChunkTopKModel::description(),
                                        [](Params& params) { return std::make_unique<cuda::ChunkTopK>(params); });

}  // namespace
}  // namespace trigram
