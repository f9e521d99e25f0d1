// Finds accesses of shared and global memory that nothing orders.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ptx/checks/access_history.hpp"
#include "ptx/checks/findings.hpp"
#include "ptx/checks/lane_order.hpp"
#include "ptx/observer.hpp"

namespace trigram::ptx {

/// Two accesses race where both reach the same byte, at least one writes it, no barrier orders them, and they are not
/// both strong (Instruction::is_strong). Writes of the same value do not count: compute-sanitizer's racecheck calls
/// them information. Each byte is told of by what it raced with last.
class Racecheck : public Observer {
 public:
  /// The findings outlive it, and may be those of other launches, too.
  explicit Racecheck(Findings& findings) : findings_(findings) {}

  void kernel_begins(const Kernel& kernel, const Launch& launch) override;
  void block_begins(const BlockState& block) override;
  void accesses(const Lanes& warp, const WarpAccess& access) override;
  void block_synchronizes(const BlockState& block) override;
  void warp_synchronizes(const Lanes& warp, const Instruction& instruction, std::uint32_t lanes) override;

 private:
  struct Now;

  void access_bytes(const Now& now, std::uint32_t lanes);
  void read(const Now& now, ByteHistory& byte, std::uint32_t lanes, std::uint64_t address);
  void write(const Now& now, ByteHistory& byte, std::uint32_t lanes, std::uint64_t address, std::size_t index);
  void require_one_value(const Now& now, std::uint32_t lanes, std::size_t index);
  void compare(const Now& now, std::uint32_t past, std::uint32_t past_lanes, std::uint32_t lanes, std::uint64_t address,
               bool past_writes);
  void report(const Now& now, std::uint32_t past, std::uint32_t past_lane, std::uint32_t lane, std::uint64_t address,
              bool past_writes);

  Findings& findings_;
  Dimensions grid_;
  LaneOrder order_;
  AccessHistory history_;
  BytesByAddress shared_, global_;
};

}  // namespace trigram::ptx
