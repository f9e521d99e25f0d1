// What PTX leaves open, and a run of a kernel has to decide.
#pragma once

#include <cstdint>

namespace trigram::ptx {

/// In which order blocks run, and in which order the warps of a block.
enum class Order {
  /// Blocks in an order drawn from the seed; warps take turns that are drawn from it, of random lengths.
  shuffled,
  /// The first block first; of its warps, the first that can run goes as far ahead as barriers allow.
  first_ahead,
  /// The same with the last.
  last_ahead,
};

/// When lanes that took different branches run together again.
enum class Reconvergence {
  /// As soon as they can: the lanes at the lowest program counter run.
  early,
  /// As late as they can: the lanes at the highest program counter run on until they must wait.
  late,
};

/// When other threads see what a thread stores in global or shared memory.
enum class Stores {
  at_once,
  /// Each after a while that is drawn from the seed, or when a barrier or a fence orders it.
  shuffled,
  /// As late as barriers and fences allow: for other blocks, when the kernel ends.
  late,
};

/// On which side of the exact value an approximate instruction errs, by as much as PTX allows.
enum class Approximation { lower, upper };

/// One way to run a kernel that PTX allows; the same schedule gives the same run.
struct Schedule {
  std::uint64_t seed = 0;
  Order order = Order::shuffled;
  Reconvergence reconvergence = Reconvergence::early;
  Approximation approximation = Approximation::lower;
  Stores stores = Stores::at_once;
};

}  // namespace trigram::ptx
