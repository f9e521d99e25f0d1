// Which accesses of a block's threads precede others, by barriers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ptx/instruction.hpp"

namespace trigram::ptx {

/// When a warp did something: between which barriers.
struct Time {
  /// The block's number in its grid; how many barriers of the block it had passed; the warp's number in it.
  std::uint32_t block = 0, epoch = 0, warp = 0;
  /// Grows with each barrier of the warp.
  std::uint32_t version = 0;
};

/// Follows the barriers of the block that runs. A barrier of the block orders all of its threads, one of a warp the
/// lanes that meet there; exchanges between lanes order no memory, and nothing orders threads of different blocks.
class LaneOrder {
 public:
  void begin_block(std::uint32_t number, std::size_t warps);
  void pass_block_barrier();
  void pass_warp_barrier(std::uint32_t warp, std::uint32_t lanes);

  Time now(std::uint32_t warp) const { return {block_, epoch_, warp, warps_[warp].version}; }

  /// Whether what a lane did then precedes what another of the block that runs does now.
  bool precedes(const Time& then, std::uint32_t then_lane, std::uint32_t warp, std::uint32_t lane) const;

 private:
  struct Warp {
    std::uint32_t version = 1;
    /// seen[a][b]: up to which version lane a is behind what lane b did.
    std::array<std::array<std::uint32_t, lanes_of_warp>, lanes_of_warp> seen{};
  };

  std::uint32_t block_ = 0, epoch_ = 0;
  std::vector<Warp> warps_;
};

}  // namespace trigram::ptx
