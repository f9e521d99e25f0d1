#include "ptx/checks/racecheck.hpp"

#include <bit>
#include <string>

#include "core/values/error.hpp"
#include "ptx/execution/lanes.hpp"

namespace trigram::ptx {

/// The access that is told of.
struct Racecheck::Now {
  const Lanes& warp;
  const WarpAccess& access;
  std::uint32_t number;

  std::uint32_t warp_number() const { return warp.first_thread / lanes_of_warp; }

  /// A byte of what a lane is about to store, counted from its address.
  std::uint8_t value(std::uint32_t lane, std::size_t index) const {
    const Instruction& store = access.instruction;
    const std::size_t element_bytes = access.bytes / (store.operand_count - 1U);
    const Operand& from = store.operands[1 + index / element_bytes];
    const auto* values = warp.values<std::uint8_t>(from);
    return values[std::size_t{lane} * from.bytes + index % element_bytes];
  }
};

namespace {

std::uint32_t number_of(Dimensions block, Dimensions grid) { return block.x + grid.x * (block.y + grid.y * block.z); }

Dimensions block_of(std::uint32_t number, Dimensions grid) {
  return {number % grid.x, number / grid.x % grid.y, number / grid.x / grid.y};
}

/// Those of the lanes that access what this one does.
std::uint32_t lanes_at(const WarpAccess& access, std::uint32_t lanes, std::uint64_t address) {
  std::uint32_t found = 0;
  for (std::uint32_t lane = 0; lane < lanes_of_warp; ++lane)
    found |= std::uint32_t{access.addresses[lane] == address} << lane;
  return found & lanes;
}

}  // namespace

void Racecheck::kernel_begins(const Kernel&, const Launch& launch) { grid_ = launch.grid; }

void Racecheck::block_begins(const BlockState& block) {
  const std::uint64_t warps = (count(block.launch.block) + lanes_of_warp - 1) / lanes_of_warp;
  order_.begin_block(number_of(block.index, grid_), warps);
  shared_.clear();
}

void Racecheck::block_synchronizes(const BlockState&) { order_.pass_block_barrier(); }

void Racecheck::warp_synchronizes(const Lanes& warp, const Instruction& instruction, std::uint32_t lanes) {
  if (instruction.flow == Flow::warp_barrier) order_.pass_warp_barrier(warp.first_thread / lanes_of_warp, lanes);
}

void Racecheck::accesses(const Lanes& warp, const WarpAccess& access) {
  if (access.space != Space::shared && access.space != Space::global) return;
  const std::uint32_t warp_number = warp.first_thread / lanes_of_warp;
  const Now now{warp, access, history_.add({&access.instruction, order_.now(warp_number)})};
  for (std::uint32_t left = access.lanes; left != 0;) {
    const std::uint32_t lanes = lanes_at(access, left, access.addresses[first_lane(left)]);
    access_bytes(now, lanes);
    left &= ~lanes;
  }
}

/// These lanes access the same bytes. Most often these have the same history, which is then looked at once.
void Racecheck::access_bytes(const Now& now, std::uint32_t lanes) {
  const std::uint64_t address = now.access.addresses[first_lane(lanes)];
  BytesByAddress& bytes = now.access.space == Space::shared ? shared_ : global_;
  ByteHistory before, after;
  for (std::size_t index = 0; index < now.access.bytes; ++index) {
    ByteHistory& byte = bytes.at(address + index);
    if (now.access.access == Access::write) {
      write(now, byte, lanes, address + index, index);
      continue;
    }
    const std::uint8_t value = byte.value;
    byte.value = 0;
    if (index == 0 || byte != before) {
      before = byte;
      read(now, byte, lanes, address + index);
      after = byte;
    }
    byte = after;
    byte.value = value;
  }
}

void Racecheck::read(const Now& now, ByteHistory& byte, std::uint32_t lanes, std::uint64_t address) {
  if (byte.write != 0) compare(now, byte.write, 1U << byte.writing_lane, lanes, address, true);
  history_.read(byte, now.number, lanes, order_);
}

void Racecheck::write(const Now& now, ByteHistory& byte, std::uint32_t lanes, std::uint64_t address,
                      std::size_t index) {
  const auto last = static_cast<std::uint8_t>(std::bit_width(lanes) - 1);
  const std::uint8_t value = now.value(last, index);
  if (!std::has_single_bit(lanes)) require_one_value(now, lanes, index);
  if (byte.write != 0 && byte.value != value) compare(now, byte.write, 1U << byte.writing_lane, lanes, address, true);
  for (std::uint32_t number = byte.readers; number != 0; number = history_.readers(number).next) {
    const Readers& readers = history_.readers(number);
    compare(now, readers.read, readers.lanes, lanes, address, false);
  }
  byte = {.write = now.number, .writing_lane = last, .value = value};
}

/// Lanes that write one byte together.
void Racecheck::require_one_value(const Now& now, std::uint32_t lanes, std::size_t index) {
  const std::uint32_t first = first_lane(lanes);
  over(lanes, [&](std::uint32_t lane) {
    if (now.value(lane, index) != now.value(first, index) && !now.access.instruction.is_strong)
      report(now, now.number, first, lane, now.access.addresses[lane] + index, true);
  });
}

/// Reports the first pair of lanes that nothing orders, if there is one.
void Racecheck::compare(const Now& now, std::uint32_t past, std::uint32_t past_lanes, std::uint32_t lanes,
                        std::uint64_t address, bool past_writes) {
  const PastAccess& access = history_.access(past);
  if (access.instruction->is_strong && now.access.instruction.is_strong) return;
  for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
    const std::uint32_t lane = first_lane(left);
    for (std::uint32_t others = past_lanes; others != 0; others &= others - 1) {
      const std::uint32_t other = first_lane(others);
      if (!order_.precedes(access.time, other, now.warp_number(), lane))
        return report(now, past, other, lane, address, past_writes);
    }
  }
}

void Racecheck::report(const Now& now, std::uint32_t past, std::uint32_t past_lane, std::uint32_t lane,
                       std::uint64_t address, bool past_writes) {
  const PastAccess& earlier = history_.access(past);
  const BlockState& block = *now.warp.block;
  const bool writes = now.access.access == Access::write;
  findings_.add(
      {"racecheck " + block.kernel.name, now.access.instruction.place.line, earlier.instruction->place.line}, [&] {
        const Where before{block.kernel, *earlier.instruction, block_of(earlier.time.block, grid_), block.launch.block,
                           std::uint64_t{earlier.time.warp} * lanes_of_warp + past_lane};
        const std::string lies = now.access.space == Space::global ? block.memory.what_lies_at(address) : "";
        const std::string hazard =
            writes ? (past_writes ? "write after write" : "write after read") : "read after write";
        return "racecheck: " + hazard + " hazard at address " + hexadecimal(address) + " of " +
               name_of(now.access.space) + " memory" + (lies.empty() ? "" : ", " + lies) + ": nothing orders the " +
               (writes ? "write" : "read") + " at " + in_words(now.warp.where(now.access.instruction, lane)) +
               ", and the " + (past_writes ? "write" : "read") + " at " + in_words(before);
      });
}

}  // namespace trigram::ptx
