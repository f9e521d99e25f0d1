#include "ptx/execution/warp.hpp"

#include <algorithm>
#include <bit>

#include "core/values/error.hpp"
#include "ptx/execution/special_registers.hpp"
#include "ptx/observer.hpp"

namespace trigram::ptx {

namespace {

constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();
/// Rows of registers are read as vectors.
constexpr std::size_t row_bytes = 64;

std::byte* aligned_rows(std::vector<std::byte>& bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(bytes.data());
  return bytes.data() + (row_bytes - address % row_bytes) % row_bytes;
}

std::uint32_t threads_of_warp(const BlockState& block, std::uint32_t number) {
  const std::uint64_t left = count(block.launch.block) - std::uint64_t{number} * lanes_of_warp;
  return left >= lanes_of_warp ? all_lanes : (1U << left) - 1;
}

}  // namespace

Warp::Warp(BlockState& block, std::uint32_t number, const Schedule& schedule)
    : block_(block),
      kernel_(block.kernel),
      reconvergence_(schedule.reconvergence),
      threads_(threads_of_warp(block, number)),
      registers_(kernel_.register_bytes + row_bytes, unwritten),
      local_(std::size_t{kernel_.local_bytes} * lanes_of_warp, unwritten) {
  // Constants are read only, but lie in a bank like registers.
  auto* constants = const_cast<std::byte*>(kernel_.constants.data());
  lanes_ = {.banks = {aligned_rows(registers_), constants},
            .first_thread = number * lanes_of_warp,
            .local = local_.data(),
            .block = &block};
  if (schedule.stores == Stores::at_once) return;
  constexpr std::uint64_t apart = 0x9E3779B97F4A7C15;
  stores_ = std::make_unique<StoreBuffer>(schedule.stores, (schedule.seed + number + 1) * apart);
  lanes_.stores = stores_.get();
}

void Warp::begin() {
  counters_.fill(0);
  live_ = threads_;
  waiting_ = group_ = 0;
  at_barrier_ = false;
  set_special_registers(kernel_, lanes_);
}

void Warp::pass_barrier() {
  at_barrier_ = false;
  if (stores_ != nullptr) stores_->drain(all_lanes);
}

void Warp::end(StoreBuffer::Unseen& unseen) {
  if (stores_ != nullptr) stores_->end_block(block_.shared, unseen);
}

void Warp::run(std::uint64_t instructions) {
  while (instructions > 0 && can_run()) {
    gather();
    advance(instructions);
  }
}

/// Chooses the lanes to run: all at one program counter.
void Warp::gather() {
  const std::uint32_t ready = live_ & ~waiting_;
  if (ready == 0) fault_of_waiting();
  std::uint32_t lowest = nowhere, highest = 0;
  over(ready, [&](std::uint32_t lane) {
    lowest = std::min(lowest, counters_[lane]);
    highest = std::max(highest, counters_[lane]);
  });
  const bool early = reconvergence_ == Reconvergence::early;
  counter_ = early ? lowest : highest;
  group_ = 0;
  limit_ = nowhere;
  for (std::uint32_t lane = 0; lane < lanes_of_warp; ++lane) {
    if ((live_ >> lane & 1) == 0) continue;
    if (counters_[lane] == counter_) {
      group_ |= 1U << lane;
    } else if (early && counters_[lane] > counter_) {
      limit_ = std::min(limit_, counters_[lane]);
    }
  }
  waiting_ &= ~group_;
}

/// Runs the group until its lanes part, wait, or meet others.
void Warp::advance(std::uint64_t& instructions) {
  const Instruction* code = kernel_.code.data();
  for (; instructions > 0; --instructions) {
    const Instruction& instruction = code[counter_];
    lanes_.active = instruction.guarded ? group_ & lanes_.predicate(instruction.guard) : group_;
    if (block_.observer != nullptr) [[unlikely]]
      block_.observer->issues(lanes_, instruction, {.together = group_, .live = live_});
    if (instruction.flow == Flow::next) [[likely]] {
      if (lanes_.active != 0) instruction.handler(lanes_, instruction);
      ++counter_;
    } else if (!take_control(instruction)) {
      return;
    }
    if (counter_ >= limit_) break;
  }
  move_to(group_, counter_);
}

/// Returns whether the group goes on as it is, from counter_.
bool Warp::take_control(const Instruction& instruction) {
  switch (instruction.flow) {
    case Flow::branch:
      return branch(instruction);
    case Flow::exit:
      return end_lanes();
    case Flow::block_barrier:
      return arrive_at_barrier(instruction);
    default:
      return join_lanes(instruction);
  }
}

bool Warp::branch(const Instruction& instruction) {
  const std::uint32_t taken = lanes_.active;
  if (taken != 0 && taken != group_) {
    move_to(taken, instruction.target);
    move_to(group_ & ~taken, counter_ + 1);
    return false;
  }
  counter_ = taken != 0 ? instruction.target : counter_ + 1;
  return true;
}

bool Warp::end_lanes() {
  live_ &= ~lanes_.active;
  group_ &= ~lanes_.active;
  waiting_ = 0;  // for lanes that have ended, nobody waits any longer
  ++counter_;
  return group_ != 0;
}

void Warp::move_to(std::uint32_t lanes, std::uint32_t counter) {
  over(lanes, [&](std::uint32_t lane) { counters_[lane] = counter; });
}

}  // namespace trigram::ptx
