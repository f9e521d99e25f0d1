// Runs the lanes of one warp, together where their program counters agree.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "ptx/execution/lanes.hpp"
#include "ptx/execution/schedule.hpp"
#include "ptx/store_buffer.hpp"

namespace trigram::ptx {

/// What registers and shared memory hold until something is written there.
inline constexpr std::byte unwritten{0xA5};

/// Up to 32 threads of a block.
class Warp {
 public:
  static constexpr std::uint64_t without_end = std::numeric_limits<std::uint64_t>::max();

  /// Takes memory for the warp with this number; the kernel and the block outlive it.
  Warp(BlockState& block, std::uint32_t number, const Schedule& schedule);

  /// Makes all its threads begin, in the block that its state now tells of.
  void begin();

  /// Runs so many instructions, or until all lanes that are left wait at a barrier of the block. Throws Fault for what
  /// they do wrong, lanes that wait for each other among it.
  void run(std::uint64_t instructions);

  bool can_run() const { return live_ != 0 && !at_barrier_; }
  /// Whether its live lanes wait at a barrier of the block.
  bool is_at_barrier() const { return at_barrier_; }
  /// Throws Fault unless all threads of another warp of the block wait where those of this one wait.
  void require_all_at_barrier(const Warp& other) const;
  /// Lets them go on.
  void pass_barrier();
  /// Leaves what its threads have stored and nothing has ordered.
  void end(StoreBuffer::Unseen& unseen);

 private:
  [[noreturn]] void fault(const Instruction& instruction, std::uint32_t lane, const char* check,
                          const std::string& what) const {
    lanes_.fault(instruction, lane, check, what);
  }
  const Instruction& barrier() const;
  void gather();
  void advance(std::uint64_t& instructions);
  bool take_control(const Instruction& instruction);
  bool branch(const Instruction& instruction);
  bool end_lanes();
  bool arrive_at_barrier(const Instruction& instruction);
  bool join_lanes(const Instruction& instruction);
  void tell_who_met(const Instruction& instruction) const;
  void gather_waiting(const Instruction& instruction);
  std::uint32_t waiting_at_warp_barriers() const;
  std::uint32_t named_by(const Instruction& instruction, std::uint32_t lane) const;
  std::uint32_t served(const Instruction& instruction, std::uint32_t arrived) const;
  void require_masks_of_partners(const Instruction& instruction) const;
  void require_mask(const Instruction& instruction, std::uint32_t lane) const;
  void move_to(std::uint32_t lanes, std::uint32_t counter);
  void wait(std::uint32_t lanes);
  [[noreturn]] void fault_of_waiting() const;

  BlockState& block_;
  const Kernel& kernel_;
  Reconvergence reconvergence_;
  std::uint32_t threads_;
  std::vector<std::byte> registers_, local_;
  std::unique_ptr<StoreBuffer> stores_;
  Lanes lanes_;
  /// Of each lane, but for the group that runs, whose counter is counter_.
  std::array<std::uint32_t, lanes_of_warp> counters_{};
  std::uint32_t live_ = 0;
  /// Lanes that wait for others of the warp, at an instruction that takes them together.
  std::uint32_t waiting_ = 0;
  bool at_barrier_ = false;
  std::uint32_t group_ = 0, counter_ = 0;
  /// Where the group may meet others, and has to be gathered anew.
  std::uint32_t limit_ = 0;
};

}  // namespace trigram::ptx
