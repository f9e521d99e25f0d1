#include "core/lane/disjoint.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "core/values/error.hpp"

namespace trigram {
namespace {

struct MemoryRange {
  const std::byte* begin;
  const std::byte* end;
  const Transfer* transfer;

  bool received() const { return transfer->direction == Transfer::Direction::receive; }
};

std::vector<MemoryRange> in_order(std::span<const Transfer> transfers) {
  std::vector<MemoryRange> ranges;
  ranges.reserve(transfers.size());
  for (const Transfer& transfer : transfers) {
    if (transfer.buffer.bytes() == 0) continue;
    const auto* begin = static_cast<const std::byte*>(transfer.buffer.raw());
    ranges.push_back({begin, begin + transfer.buffer.bytes(), &transfer});
  }
  std::ranges::sort(ranges, std::less<>(), &MemoryRange::begin);
  return ranges;
}

std::string described(const MemoryRange& range) {
  return std::to_string(range.end - range.begin) + " bytes " + (range.received() ? "received from" : "sent to") +
         " rank " + std::to_string(range.transfer->peer);
}

}  // namespace

void require_disjoint(std::span<const Transfer> transfers) {
  const MemoryRange* longest = nullptr;           // of those before, the one that ends last
  const MemoryRange* longest_received = nullptr;  // and of those that are received
  const std::vector<MemoryRange> ranges = in_order(transfers);
  for (const MemoryRange& range : ranges) {
    const MemoryRange* before = range.received() ? longest : longest_received;
    if (before != nullptr && range.begin < before->end) {
      throw Error("in one exchange, " + described(*before) + " and " + described(range) +
                  " share memory; receive into a buffer of its own");
    }
    if (longest == nullptr || range.end > longest->end) longest = &range;
    if (range.received() && (longest_received == nullptr || range.end > longest_received->end)) {
      longest_received = &range;
    }
  }
}

}  // namespace trigram
