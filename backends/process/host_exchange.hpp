// The services of a rank that are not training's communication: agreement, collections, results.
#pragma once

#include <cstdint>

#include "core/lane/worker.hpp"
#include "processes/host_group.hpp"

namespace trigram {

/// Host bytes between ranks; metered nowhere.
class HostExchange {
 public:
  using Parts = RankRuntime::Parts;

  /// The group outlives it.
  HostExchange(HostGroup& group, Patience patience) : group_(group), patience_(patience) {}

  std::int64_t agree(std::int64_t value, ReduceOp op);
  /// Everybody's part on rank 0, in rank order; nothing elsewhere. Throws Error when ranks name different keys.
  Parts gather(std::int64_t key, const std::vector<std::byte>& part);
  /// Everybody's part on every rank.
  Parts all_gather(const std::vector<std::byte>& part) { return group_.all_gather(part, patience_); }
  /// Everybody's number on every rank.
  std::vector<std::int64_t> everybodys(std::int64_t value);
  /// Waits for everybody as long as it takes: somebody may be computing for long.
  void meet() { group_.barrier({}); }
  int rank() const { return group_.rank(); }

 private:
  HostGroup& group_;
  Patience patience_;
};

}  // namespace trigram
