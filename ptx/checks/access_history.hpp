// Who last wrote each byte of memory, and who has read it since.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ptx/checks/lane_order.hpp"

namespace trigram::ptx {

/// An access of a warp that is remembered.
struct PastAccess {
  const Instruction* instruction = nullptr;
  Time time;
};

/// What is remembered of one byte. Numbers are of PastAccesses and of Readers; 0 is nobody.
struct ByteHistory {
  std::uint32_t write = 0, readers = 0;
  std::uint8_t writing_lane = 0, value = 0;

  bool operator==(const ByteHistory&) const = default;
};

/// Lanes that read a byte by one instruction, and others that did so by others.
struct Readers {
  std::uint32_t read = 0, lanes = 0, next = 0;
};

/// The bytes of one block's shared memory, or of global memory.
class BytesByAddress {
 public:
  ByteHistory& at(std::uint64_t address);
  void clear() { pages_.clear(), last_ = {}; }

 private:
  static constexpr std::uint64_t page_bytes = 1024;
  using Page = std::array<ByteHistory, page_bytes>;

  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
  std::pair<std::uint64_t, Page*> last_{0, nullptr};
};

/// What a launch has done to memory so far, as far as it can still race with what follows.
class AccessHistory {
 public:
  AccessHistory() : accesses_(1), readers_(1) {}

  /// Returns its number.
  std::uint32_t add(const PastAccess& access);
  const PastAccess& access(std::uint32_t number) const { return accesses_[number]; }
  const Readers& readers(std::uint32_t number) const { return readers_[number]; }

  /// These lanes read the byte now. Of those that read it before, the ones that any of them is behind are forgotten,
  /// and all but one of other blocks, since who races with one of them races with all.
  void read(ByteHistory& byte, std::uint32_t access, std::uint32_t lanes, const LaneOrder& order);

 private:
  std::uint32_t left_of(const Readers& readers, std::uint32_t access, std::uint32_t lanes,
                        const LaneOrder& order) const;

  std::vector<PastAccess> accesses_;
  std::vector<Readers> readers_;
};

}  // namespace trigram::ptx
