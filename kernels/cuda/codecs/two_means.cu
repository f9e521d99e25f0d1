// two_means on device memory: sums of either side and how many are below 0 by the fixed tree, then the signs.
#include "kernels/codecs/two_means.hpp"
#include "kernels/cuda/codecs/sign_bits.hpp"
#include "kernels/cuda/tree_sum.hpp"

namespace trigram::cuda {
namespace {

constexpr std::int64_t header_bytes = TwoMeansModel::header_bytes;

/// A vector and room for its three sums: of both sides, and of ones for what is below 0, which doubles count exactly.
struct Sides {
  const float* values;
  std::uint8_t* frame;
  std::int64_t count;
  double* partials;

  __device__ __forceinline__ double* of(int sum) const { return partials + sum * room(count); }
  __host__ __device__ static std::int64_t room(std::int64_t count) {
    const std::int64_t partial = tree_partials(count);
    return partial + (partial + 7) / 8;
  }
};
using SidesTable = PartTable<Sides>;

__global__ void __launch_bounds__(block_threads) add_sides(const __grid_constant__ SidesTable table) {
  const Sides& own = table.own();
  for (std::int64_t partial = table.block(); partial < tree_partials(own.count); partial += table.blocks_each) {
    const double sums[] = {
        tree_partial(own.count, partial, [&](std::int64_t i) { return two_means_term(own.values[i], false); }),
        tree_partial(own.count, partial, [&](std::int64_t i) { return two_means_term(own.values[i], true); }),
        tree_partial(own.count, partial, [&](std::int64_t i) { return own.values[i] < 0.0F ? 1.0 : 0.0; })};
    for (int sum = 0; threadIdx.x == 0 && sum < 3; ++sum) own.of(sum)[partial] = sums[sum];
  }
}

/// A block a vector.
__global__ void __launch_bounds__(block_threads) write_means(const __grid_constant__ SidesTable table) {
  const Sides& own = table.own();
  const std::int64_t partials = tree_partials(own.count);
  const double sums[] = {tree_total(own.of(0), partials), tree_total(own.of(1), partials),
                         tree_total(own.of(2), partials)};
  if (threadIdx.x != 0) return;
  const auto below = static_cast<std::int64_t>(sums[2]);
  put(own.frame, two_means_mean(sums[0], own.count - below));
  put(own.frame + 4, two_means_mean(sums[1], below));
}

struct MeansFrame {
  const std::uint8_t* frame;

  template <int N>
  using Codes = TwoValuesFrame::Codes<N>;
  __device__ TwoValuesFrame prepared() const {
    return {{frame + header_bytes}, load<float>(frame), load<float>(frame + 4)};
  }
};

class TwoMeans final : public CudaCodec<TwoMeans, TwoMeansModel> {
 public:
  void encode_all_of(CudaKernels& kernels, VectorFrames all) const {
    by_tables(
        kernels, add_sides, all, 1,
        [](const VectorFrame& one) {
          return Sides{one.values, one.frame, one.count, nullptr};
        },
        [](const VectorFrame& one) { return tree_partials(one.count); },
        [&](SidesTable& table) { add_up(kernels, table); });
    write_sign_bits<BelowZero>(kernels, all, [](const VectorFrame& one) { return one.frame + header_bytes; });
  }

  template <class Sink>
  void decode_all_of(const CudaKernels& kernels, VectorFrames all, const Sink& sink) const {
    decode_groups(kernels, all, sink, true, [](const VectorFrame& one) { return MeansFrame{one.frame}; });
  }

 private:
  static void add_up(CudaKernels& kernels, SidesTable& table) {
    const std::span parts(table.parts, table.count);
    std::int64_t room = 0;
    for (const Sides& part : parts) room += 3 * Sides::room(part.count);
    auto* partials = static_cast<double*>(kernels.scratch(static_cast<std::size_t>(room) * sizeof(double)));
    for (Sides& part : parts) {
      part.partials = partials;
      partials += 3 * Sides::room(part.count);
    }
    launch("encode", kernels, add_sides, table.blocks(), block_threads, table);
    launch("encode", kernels, write_means, table.count, block_threads, table.with_one_block_each());
  }
};

const Codecs::Registration registration("cuda/two_means", TwoMeans::description(),
                                        [](Params&) { return std::make_unique<TwoMeans>(); });

}  // namespace
}  // namespace trigram::cuda
