// Runs the warps of a block.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "ptx/execution/warp.hpp"

namespace trigram::ptx {

/// The threads of one block; the same object runs one block after another.
class Block {
 public:
  Block(const Kernel& kernel, const Launch& launch, Memory& memory, Schedule schedule, Observer* observer);

  /// Runs the block at this place of the grid to its end. Throws Fault.
  void run(Dimensions index, std::mt19937_64& random);

  /// Makes all see what threads have stored, once the last block has run.
  void end();

 private:
  Warp* next_warp(std::mt19937_64& random);
  bool release_barrier();

  Order order_;
  BlockState state_;
  std::vector<Warp> warps_;
  /// Those of warps_ that neither wait nor have ended, as far as is known.
  std::vector<Warp*> runnable_;
  StoreBuffer::Unseen unseen_;
};

}  // namespace trigram::ptx
