// The services of a rank that are not training's communication: agreement, collections, results.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/mpi/communicator.hpp"
#include "core/worker.hpp"

namespace trigram::mpi {

/// Host bytes between ranks, on communicators of its own; metered nowhere.
class Control {
 public:
  using Parts = RankRuntime::Parts;

  /// Collective. `timeout` as in LaneContext.
  Control(double timeout, Failure& failure);

  std::int64_t agree(std::int64_t value, ReduceOp op);
  /// Everybody's part on rank 0, in rank order; nothing elsewhere. Throws Error when ranks name different keys.
  Parts gather(std::int64_t key, const std::vector<std::byte>& part);
  /// Everybody's part on every rank.
  Parts all_gather(const std::vector<std::byte>& part);
  /// Waits for everybody, without a watchdog: somebody may be computing for long.
  void meet() { meeting_.barrier(); }
  int rank() const { return watched_.rank(); }

 private:
  std::vector<std::int64_t> everybodys(std::int64_t value);

  Timeline timeline_;
  Device device_;
  MpiCommunicator watched_;
  MpiCommunicator meeting_;
};

}  // namespace trigram::mpi
