// The services of a rank that are not training's communication: agreement, collections, results.
#pragma once

#include <cstdint>

#include "core/worker.hpp"
#include "meeting/rendezvous.hpp"

namespace trigram {

/// Host bytes between ranks by way of their rendezvous; metered nowhere.
class HostExchange {
 public:
  using Parts = RankRuntime::Parts;

  HostExchange(Rendezvous& rendezvous, Patience patience) : rendezvous_(rendezvous), patience_(patience) {}

  std::int64_t agree(std::int64_t value, ReduceOp op);
  /// Everybody's part on rank 0, in rank order; nothing elsewhere. Throws Error when ranks name different keys.
  Parts gather(std::int64_t key, const std::vector<std::byte>& part);
  /// Everybody's part on every rank.
  Parts all_gather(const std::vector<std::byte>& part) { return rendezvous_.all_gather(part, patience_); }
  /// Waits for everybody as long as it takes: somebody may be computing for long.
  void meet() { rendezvous_.barrier({}); }
  int rank() const { return rendezvous_.rank(); }

 private:
  std::vector<std::int64_t> everybodys(std::int64_t value);

  Rendezvous& rendezvous_;
  Patience patience_;
};

}  // namespace trigram
