// Runs the threads of one block as fibers of the calling OS thread (see cuda_runtime.h).
#pragma once

#include <cstdint>
#include <functional>

namespace cuda_on_host {

/// The calls in which the lanes of a warp meet; all must be in the same one.
enum class WarpCall : std::uint8_t { none, sync, shuffle, shuffle_xor, shuffle_down, shuffle_up, ballot };

/// What CUDA_ON_HOST_MUTATION makes wrong in every kernel, so that suites can be seen to find it: "flush_to_zero" takes
/// subnormal numbers for 0, "no_barriers" lets threads of a block pass __syncthreads, "tree_order" reverses the order
/// of the steps in which lanes of a warp combine values.
enum class Mutation : std::uint8_t { none, flush_to_zero, no_barriers, tree_order };
Mutation mutation();

/// Runs `thread` once for each thread of each block, with threadIdx and its kin set. Rethrows what a thread throws.
/// Throws std::logic_error when threads wait for each other forever, or lanes of a warp meet in different calls.
void run_grid(unsigned blocks, unsigned threads_a_block, const std::function<void()>& thread);

/// For the running fiber: waits until every live thread of the block is here.
void block_barrier();
/// Waits until all lanes of the warp are here; `mask` must name all 32.
void warp_barrier(unsigned mask, WarpCall call);
/// Gives `value` to the other lanes and returns what `lane` gave.
std::uint64_t warp_exchange(unsigned mask, WarpCall call, std::uint64_t value, unsigned lane);
unsigned warp_ballot(unsigned mask, bool predicate);
unsigned lane_id();

}  // namespace cuda_on_host
