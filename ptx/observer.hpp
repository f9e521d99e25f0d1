// Who is told what a kernel does while it runs: what checks it, and what counts.
#pragma once

#include <array>
#include <cstdint>

#include "ptx/address_space.hpp"
#include "ptx/execution/lanes.hpp"
#include "ptx/grid.hpp"
#include "ptx/instruction.hpp"
#include "ptx/kernel.hpp"
#include "ptx/memory.hpp"

namespace trigram::ptx {

/// An address a lane; those of lanes that take no part say nothing.
using Addresses = std::array<std::uint64_t, lanes_of_warp>;

/// What one instruction accesses in one state space.
struct WarpAccess {
  const Instruction& instruction;
  /// Never generic: an instruction whose lanes reach several spaces is told of once for each.
  Space space;
  Access access;
  /// The lanes that access it.
  std::uint32_t lanes;
  /// Of each lane, from its address on; a vector's are all of its elements'.
  std::uint32_t bytes;
  /// In global memory those of the device; else they count from the first byte of the block's shared memory, of the
  /// thread's local memory, or of the kernel's parameters.
  const Addresses& addresses;
};

/// Which lanes of a warp come to an instruction.
struct Arrival {
  /// Those that run together; the active ones among them are those whose guard is true, perhaps none.
  std::uint32_t together;
  /// Those that have not ended.
  std::uint32_t live;
};

/// Is told of one launch, in the order in which the interpreter runs it: blocks one after another, of a block one warp
/// at a time. What it throws ends the launch; then no more is told. Two launches may run at once, on threads of their
/// own: each has its observer. A warp tells its kernel, its block (`block->index`, `block->launch`) and the number of
/// its first thread; Lanes::fault throws in words.
class Observer {
 public:
  virtual ~Observer() = default;

  virtual void kernel_begins(const Kernel&, const Launch&) {}
  virtual void kernel_ends() {}
  virtual void block_begins(const BlockState&) {}
  virtual void block_ends(const BlockState&) {}

  /// Lanes come to an instruction and are about to do it, or to wait there for others: branches, barriers and ends of
  /// threads are told of, too. `warp.active` are those whose guard is true.
  virtual void issues(const Lanes& /*warp*/, const Instruction&, Arrival) {}

  /// Lanes are about to read or write memory, and may: memcheck has found nothing.
  virtual void accesses(const Lanes& /*warp*/, const WarpAccess&) {}

  /// All threads of the block have come to a barrier, and go on.
  virtual void block_synchronizes(const BlockState&) {}

  /// These lanes have met at an instruction that takes them together, a barrier of the warp (Flow::warp_barrier) or an
  /// exchange (Flow::collective), and go on.
  virtual void warp_synchronizes(const Lanes& /*warp*/, const Instruction&, std::uint32_t /*lanes*/) {}
};

}  // namespace trigram::ptx
