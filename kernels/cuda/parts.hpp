// Several vectors in one launch: a table of what each needs, and as many blocks of threads for one as for another.
#pragma once

#include <span>

#include "kernels/cuda/groups.hpp"

namespace trigram::cuda {

/// As an argument of a kernel. Block b works on part b / blocks_each.
template <class Part>
struct PartTable {
  static constexpr std::size_t room = 3072;  ///< bytes; all arguments of a kernel may have 4096
  static constexpr std::size_t most = sizeof(Part) < room ? room / sizeof(Part) : 1;
  Part parts[most];
  unsigned count = 0;
  unsigned blocks_each = 1;

  std::int64_t blocks() const { return static_cast<std::int64_t>(count) * blocks_each; }
  PartTable with_one_block_each() const {
    PartTable table = *this;
    table.blocks_each = 1;
    return table;
  }
  /// The part that this block works on, and where it stands.
  __device__ __forceinline__ unsigned place() const { return blockIdx.x / blocks_each; }
  __device__ __forceinline__ const Part& own() const { return parts[place()]; }
  /// This block among those of its part.
  __device__ __forceinline__ std::int64_t block() const { return blockIdx.x % blocks_each; }
};

/// Calls run(table) for tables that hold make(vector) of all vectors, with blocks of `kernel` for units(vector), of
/// which a block of `threads` does `a_block` at a time, as many blocks for each vector: one table mostly.
template <class Kernel, class Vector, class Make, class Units, class Run>
void by_tables(const CudaKernels& kernels, Kernel* kernel, std::span<const Vector> vectors, std::int64_t a_block,
               const Make& make, const Units& units, const Run& run, unsigned threads = block_threads) {
  using Table = PartTable<std::remove_cvref_t<decltype(make(vectors.front()))>>;
  const std::int64_t resident = kernels.resident_blocks(reinterpret_cast<const void*>(kernel), threads);
  while (!vectors.empty()) {
    const std::span<const Vector> some = vectors.first(std::min(vectors.size(), Table::most));
    Table table;
    std::int64_t largest = 0;
    for (const Vector& vector : some) {
      table.parts[table.count++] = make(vector);
      largest = std::max<std::int64_t>(largest, units(vector));
    }
    const std::int64_t alone = blocks_for(kernels, kernel, threads, Work{largest, a_block});
    table.blocks_each = static_cast<unsigned>(std::clamp<std::int64_t>(resident / table.count, 1, alone));
    run(table);
    vectors = vectors.subspan(some.size());
  }
}

/// A rule of groups.hpp over so many elements.
template <class Rule>
struct RulePart {
  Rule rule;
  std::int64_t count;
};

template <int N, class Rule>
__global__ void __launch_bounds__(block_threads) over_parts(const __grid_constant__ PartTable<RulePart<Rule>> table) {
  const RulePart<Rule>& own = table.own();
  go_over<N>(own.rule, own.count, table.block(), table.blocks_each);
}

/// As run_over, a rule for each vector.
template <class Vector, class Make>
void run_over_parts(const char* operation, const CudaKernels& kernels, std::span<const Vector> vectors, bool wide,
                    const Make& make) {
  using Rule = std::remove_cvref_t<decltype(make(vectors.front()))>;
  const int width = wide ? Rule::width : 1;
  const auto kernel = wide ? over_parts<Rule::width, Rule> : over_parts<1, Rule>;
  by_tables(
      kernels, kernel, vectors, tile_of<Rule>,
      [&](const Vector& vector) {
        return RulePart<Rule>{make(vector), vector.count};
      },
      [&](const Vector& vector) { return vector.count / width; },
      [&](const auto& table) { launch(operation, kernels, kernel, table.blocks(), block_threads, table); });
}

}  // namespace trigram::cuda
