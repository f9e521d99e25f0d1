#include "ptx/checks/access_history.hpp"

#include "ptx/execution/lanes.hpp"

namespace trigram::ptx {

ByteHistory& BytesByAddress::at(std::uint64_t address) {
  const std::uint64_t number = address / page_bytes;
  if (last_.second == nullptr || last_.first != number) {
    auto& page = pages_[number];
    if (page == nullptr) page = std::make_unique<Page>();
    last_ = {number, page.get()};
  }
  return (*last_.second)[address % page_bytes];
}

std::uint32_t AccessHistory::add(const PastAccess& access) {
  accesses_.push_back(access);
  return static_cast<std::uint32_t>(accesses_.size() - 1);
}

/// The lanes of earlier readers that have to be remembered once others have read the byte.
std::uint32_t AccessHistory::left_of(const Readers& readers, std::uint32_t access, std::uint32_t lanes,
                                     const LaneOrder& order) const {
  const Time &then = accesses_[readers.read].time, &now = accesses_[access].time;
  if (then.block != now.block) return readers.lanes;
  if (then.epoch != now.epoch) return 0;
  if (then.warp != now.warp) return readers.lanes;
  std::uint32_t left = 0;
  over(readers.lanes & ~lanes, [&](std::uint32_t lane) {
    bool is_behind = false;
    over(lanes, [&](std::uint32_t reader) { is_behind |= order.precedes(then, lane, now.warp, reader); });
    left |= std::uint32_t{!is_behind} << lane;
  });
  return left;
}

void AccessHistory::read(ByteHistory& byte, std::uint32_t access, std::uint32_t lanes, const LaneOrder& order) {
  Readers all{access, lanes, 0};
  bool has_other_block = false;
  for (std::uint32_t number = byte.readers; number != 0; number = readers_[number].next) {
    Readers earlier = readers_[number];
    earlier.lanes = left_of(earlier, access, lanes, order);
    const bool is_other_block = accesses_[earlier.read].time.block != accesses_[access].time.block;
    if (earlier.lanes == 0 || (is_other_block && has_other_block)) continue;
    has_other_block |= is_other_block;
    earlier.next = all.next;
    readers_.push_back(earlier);
    all.next = static_cast<std::uint32_t>(readers_.size() - 1);
  }
  readers_.push_back(all);
  byte.readers = static_cast<std::uint32_t>(readers_.size() - 1);
}

}  // namespace trigram::ptx
