// Collectives of host bytes beside training: agree(), collect(), barriers, results.
#pragma once

#include <cstdint>

#include "core/lane/worker.hpp"
#include "processes/host_group.hpp"

namespace trigram {

/// Collectives of host bytes between all ranks, unmetered.
class HostExchange {
 public:
  using Parts = RankRuntime::Parts;

  /// The group outlives it.
  HostExchange(HostGroup& group, Patience patience) : group_(group), patience_(patience) {}

  std::int64_t agree(std::int64_t value, ReduceOp op);
  /// The parts of all ranks on rank 0, in rank order; nothing elsewhere. Throws Error when ranks give different keys.
  Parts gather(std::int64_t key, const std::vector<std::byte>& part);
  /// The parts of all ranks on every rank.
  Parts all_gather(const std::vector<std::byte>& part) { return group_.all_gather(part, patience_); }
  /// An all-gather of one number per rank.
  std::vector<std::int64_t> all_gather_number(std::int64_t value);
  /// A barrier without a timeout, since a rank may be computing for long.
  void barrier() { group_.barrier({}); }
  int rank() const { return group_.rank(); }

 private:
  HostGroup& group_;
  Patience patience_;
};

}  // namespace trigram
