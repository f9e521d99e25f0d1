// What this rank has ordered from NCCL and not seen the end of.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backends/gpu/stream.hpp"
#include "core/lane/communicator.hpp"

namespace trigram::gpu {

/// Who orders: a group of ranks on one lane.
struct Orderer {
  int rank = 0;                  ///< in the world, for error messages
  std::string lane;              ///< "lane 1 (buckets 0, 2, ...)"
  std::string group;             ///< "all ranks"
  std::vector<int> world_ranks;  ///< by rank of the group
  int lane_index = 0;
  cudaStream_t stream = nullptr;
};

/// One operation on a stream, between two events.
struct Operation {
  std::shared_ptr<const Orderer> by;
  const char* name = "";      ///< "exchange", "all_reduce"
  std::int64_t sequence = 0;  ///< of its group, from 1 on
  std::int64_t bytes = 0;
  std::vector<Transfer> transfers;  ///< of an exchange
  std::string within;               ///< what the lane was ordering: "all_reduce of bucket 3"
  Event begun, ended;
  double seen_running_at = -1;  ///< seconds; less than 0: not yet

  /// "rank 0, lane 1 (buckets 0, 1, ...), all ranks: exchange number 1".
  std::string description() const;
  /// "a receive of 24 bytes from rank 1, ..." or "the other 3 ranks".
  std::string waits_for() const;
};

/// A ring of the newest operations. The lanes' thread writes, the watchdog reads.
class Recorder {
 public:
  /// Records the begin of an operation on the stream of `by`. When the ring is full of operations that have not ended,
  /// the host waits for the oldest: it was that far ahead of the device.
  void begin(const std::shared_ptr<const Orderer>& by, const char* name, std::int64_t sequence, std::int64_t bytes,
             std::span<const Transfer> transfers, std::string within);
  /// Its end; operations do not overlap for the host.
  void end();

  /// What hangs: of every lane the first operation that has begun and not ended for `seconds`; for the watchdog.
  /// Forgets what has ended. Throws BackendError, naming the operation, for an error of the device.
  std::optional<std::string> stuck_for(double seconds, double now);
  /// The first operation of that lane that has not ended, in words; empty where there is none.
  std::string running_on(int lane_index);
  /// Forgets everything: after a failure, or before streams go.
  void clear();

 private:
  void forget_ended();

  std::mutex mutex_;
  std::deque<Operation> operations_;
  bool open_ = false;  ///< the newest has no end yet
  EventPool pool_{Event::Kind::order};
};

}  // namespace trigram::gpu
