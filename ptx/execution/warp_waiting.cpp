// Lanes of a warp that wait for each other: at barriers, and where they exchange values.
#include "core/values/error.hpp"
#include "ptx/execution/warp.hpp"
#include "ptx/observer.hpp"

namespace trigram::ptx {

/// The lanes that a lane waits for at an instruction.
std::uint32_t Warp::named_by(const Instruction& instruction, std::uint32_t lane) const {
  if (instruction.flow == Flow::block_barrier) return live_;
  return lanes_.values<std::uint32_t>(instruction.operands[instruction.operand_count - 1U])[lane];
}

/// All live lanes of a warp arrive together, since the barrier is an aligned one.
bool Warp::arrive_at_barrier(const Instruction& instruction) {
  gather_waiting(instruction);
  if (lanes_.active == 0) {
    ++counter_;
    return true;
  }
  if (lanes_.active != group_) {
    fault(instruction, first_lane(lanes_.active), "synccheck",
          "divergent threads in warp: lane " + number_text(first_lane(group_ & ~lanes_.active)) +
              " passes by the barrier");
  }
  if (group_ == live_) {
    at_barrier_ = true;
    move_to(group_, counter_ + 1);
  } else {
    wait(group_);
  }
  return false;
}

const Instruction& Warp::barrier() const { return kernel_.code[counters_[first_lane(live_)] - 1]; }

void Warp::require_all_at_barrier(const Warp& other) const {
  const std::uint32_t ended = other.threads_ & ~other.live_;
  const auto thread = [&](std::uint32_t lane) { return number_text(other.lanes_.first_thread + lane); };
  if (ended != 0) {
    fault(barrier(), first_lane(live_), "synccheck",
          "divergent threads in block: thread " + thread(first_lane(ended)) +
              " of the block has ended, and does not reach the barrier");
  }
  if (other.barrier().offset != barrier().offset) {
    fault(barrier(), first_lane(live_), "synccheck",
          "divergent threads in block: thread " + thread(0) + " of the block waits at another barrier, '" +
              other.barrier().text + "',");
  }
}

bool Warp::join_lanes(const Instruction& instruction) {
  gather_waiting(instruction);
  const bool is_barrier = instruction.flow == Flow::warp_barrier;
  const std::uint32_t active = lanes_.active, elsewhere = is_barrier ? waiting_at_warp_barriers() : 0;
  lanes_.active = served(instruction, active | elsewhere);
  if (lanes_.active != 0) instruction.handler(lanes_, instruction);
  if (is_barrier) {
    std::uint32_t released = 0;
    over(lanes_.active, [&](std::uint32_t lane) { released |= named_by(instruction, lane) & elsewhere; });
    over(released, [&](std::uint32_t lane) { ++counters_[lane]; });
    waiting_ &= ~released;
    if (stores_ != nullptr) stores_->drain(lanes_.active | released);
  }
  if (block_.observer != nullptr) tell_who_met(instruction);
  const std::uint32_t left = active & ~lanes_.active;
  if (left == 0) {
    ++counter_;
    return true;
  }
  move_to(group_ & ~left, counter_ + 1);
  wait(left);
  return false;
}

/// Lanes whose masks differ have met others.
void Warp::tell_who_met(const Instruction& instruction) const {
  for (std::uint32_t left = lanes_.active; left != 0;) {
    const std::uint32_t together = named_by(instruction, first_lane(left)) & live_;
    block_.observer->warp_synchronizes(lanes_, instruction, together);
    left &= ~together;
  }
}

/// Lanes that wait at this very instruction join the group that arrives there.
void Warp::gather_waiting(const Instruction& instruction) {
  over(waiting_, [&](std::uint32_t lane) {
    if (counters_[lane] == counter_) group_ |= 1U << lane;
  });
  waiting_ &= ~group_;
  lanes_.active = instruction.guarded ? group_ & lanes_.predicate(instruction.guard) : group_;
}

std::uint32_t Warp::waiting_at_warp_barriers() const {
  std::uint32_t found = 0;
  over(waiting_, [&](std::uint32_t lane) {
    found |= std::uint32_t{kernel_.code[counters_[lane]].flow == Flow::warp_barrier} << lane;
  });
  return found;
}

/// The active lanes all of whose partners have arrived.
std::uint32_t Warp::served(const Instruction& instruction, std::uint32_t arrived) const {
  std::uint32_t lanes = 0;
  bool is_uniform = true;
  const std::uint32_t active = lanes_.active, of_first = active == 0 ? 0 : named_by(instruction, first_lane(active));
  over(active, [&](std::uint32_t lane) {
    require_mask(instruction, lane);
    const std::uint32_t named = named_by(instruction, lane);
    is_uniform &= named == of_first;
    lanes |= std::uint32_t{(named & live_ & ~arrived) == 0} << lane;
  });
  if (!is_uniform) require_masks_of_partners(instruction);
  return lanes;
}

/// Lanes that name each other give the same mask.
void Warp::require_masks_of_partners(const Instruction& instruction) const {
  over(lanes_.active, [&](std::uint32_t lane) {
    const std::uint32_t named = named_by(instruction, lane);
    over(named & lanes_.active, [&](std::uint32_t other) {
      if (named_by(instruction, other) == named) return;
      fault(instruction, lane, "synccheck",
            "invalid arguments: the mask differs from that of lane " + number_text(other) + ", which it names,");
    });
  });
}

void Warp::require_mask(const Instruction& instruction, std::uint32_t lane) const {
  const std::uint32_t named = named_by(instruction, lane);
  if ((named >> lane & 1) == 0) [[unlikely]]
    fault(instruction, lane, "synccheck", "invalid arguments: the mask does not name the lane that gives it");
  const std::uint32_t gone = named & ~live_;
  if (gone != 0 && instruction.flow == Flow::collective) [[unlikely]] {
    const bool had_begun = (threads_ >> first_lane(gone) & 1) != 0;
    fault(instruction, lane, "synccheck",
          "invalid arguments: the mask names lane " + number_text(first_lane(gone)) +
              (had_begun ? ", which has ended," : ", which the block does not have,"));
  }
}

void Warp::wait(std::uint32_t lanes) {
  move_to(lanes, counter_);
  waiting_ |= lanes;
}

void Warp::fault_of_waiting() const {
  const std::uint32_t lane = first_lane(waiting_);
  const Instruction& here = kernel_.code[counters_[lane]];
  std::uint32_t missing = 0;
  over(named_by(here, lane) & live_,
       [&](std::uint32_t other) { missing |= std::uint32_t{counters_[other] != counters_[lane]} << other; });
  const std::uint32_t other = first_lane(missing);
  const Instruction& there = kernel_.code[counters_[other]];
  fault(here, lane, "synccheck",
        "divergent threads in warp: lane " + number_text(lane) + " waits for lane " + number_text(other) +
            ", which waits at '" + there.text + "' (line " + number_text(there.place.line) + " of the PTX),");
}

}  // namespace trigram::ptx
