// What keeps a simulated run from hanging: who waits for whom, and a watchdog that looks whether anybody can move.
#pragma once

#include <optional>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

#include "backends/sim/channel.hpp"
#include "backends/sim/cluster/cluster.hpp"
#include "backends/sim/engine/standstill.hpp"
#include "backends/sim/failures.hpp"
#include "backends/sim/members.hpp"
#include "core/lane/worker.hpp"
#include "core/world/lane_layout.hpp"

namespace trigram::sim {

/// What one actor is blocked in, for the watchdog and for whoever reports a lost peer.
struct BlockedOp {
  double since = -1;  ///< simulated seconds; negative while it runs
  const char* operation = "";
  const Members* group = nullptr;            ///< none while it waits for another lane of its rank
  int lane = -1;                             ///< that it waits for, where there is no group
  std::span<const Transfer> transfers = {};  ///< of an exchange; a rendezvous waits for its whole group
  std::optional<Transfer> awaited = {};      ///< of the exchange, the message that must end first
  std::size_t more = 0;                      ///< messages behind it
  const Channel* channel = nullptr;          ///< of the awaited message
  std::int64_t number = 0;                   ///< of the awaited message there
  bool patient = false;                      ///< serves: it may wait as long as others train
  bool blocked() const { return since >= 0; }
  /// Whether only others can end this, and in time. Who waits for a lane of its own waits for whatever that one waits
  /// for.
  bool waits_for_others() const { return blocked() && group != nullptr && !patient; }
};

/// The watchdog of one run, and what it looks at: the operation in which each lane of each rank is blocked.
class Watch {
 public:
  Watch(const Cluster& cluster, const LaneLayout& layout, int ranks, Failures& failures);

  /// Starts the watchdog on the host `service`, beside the actors of ranks.
  void start(std::vector<RankRuntime*> runtimes, simgrid::s4u::Host* service);

  BlockedOp& op(int rank, int lane) { return ops_[static_cast<std::size_t>(rank * lanes() + lane)]; }
  Standstill& standstill() { return standstill_; }
  /// Somebody begins to wait for others.
  void notice_wait() {
    if (rests_) wake();
  }
  /// A rank has come to its end.
  void note_end(int rank) { ended_[static_cast<std::size_t>(rank)] = true; }

  /// "rank 3, step 5, lane 1 (buckets 0, 2, ...), all_reduce of bucket 2"; the step is left out where it is unknown.
  std::string where(int rank, int lane) const;
  /// Whether the actor there waits for `peer`, alone or with others.
  bool waits_for(const BlockedOp& op, int peer) const;
  /// A BackendError that lists who waits for what.
  std::exception_ptr deadlock() const;

 private:
  int lanes() const { return layout_.lanes(); }
  void watch();
  void wake();
  std::optional<double> oldest_wait() const;
  bool overdue(double since) const;
  /// Whether no actor of a rank can move, as far as can be seen while others may be about to run in this instant.
  bool seems_to_stand_still() const;
  bool stands_still();
  std::exception_ptr timed_out() const;
  std::string waiting_lanes(const std::vector<int>& blocked) const;
  std::vector<int> blocked_lanes() const;
  std::string ended_ranks() const;
  std::string describe(int rank, int lane) const;
  static std::string waited_for(const BlockedOp& op);

  const Cluster& cluster_;
  const LaneLayout& layout_;
  const int ranks_;
  Failures& failures_;
  std::vector<RankRuntime*> runtimes_;  ///< by rank
  std::vector<BlockedOp> ops_;          ///< by rank, then lane
  Standstill standstill_;
  std::vector<bool> ended_;  ///< by rank
  bool rests_ = false;
  simgrid::s4u::SemaphorePtr wanted_;
};

/// Marks an actor as blocked while it lives.
class Blocked {
 public:
  Blocked(Watch& watch, BlockedOp& op, const char* operation, const Members& group,
          std::span<const Transfer> transfers = {})
      : op_(op), before_(op) {
    op_ = {.since = simgrid::s4u::Engine::get_clock(), .operation = operation, .group = &group, .transfers = transfers};
    watch.notice_wait();
  }
  /// A lane that serves, until somebody asks.
  enum Patience { patient };
  Blocked(BlockedOp& op, const char* operation, const Members& group, Patience) : op_(op), before_(op) {
    op_ = {.since = simgrid::s4u::Engine::get_clock(), .operation = operation, .group = &group, .patient = true};
  }
  /// The lane that started a body of `lane`, until that has ended.
  Blocked(BlockedOp& op, int lane) : op_(op), before_(op) {
    op_ = {.since = simgrid::s4u::Engine::get_clock(), .lane = lane};
  }
  ~Blocked() { op_ = before_; }
  Blocked(const Blocked&) = delete;
  Blocked& operator=(const Blocked&) = delete;

  /// Of the exchange, this message is waited for, and `more` after it.
  void awaits(const Transfer& transfer, std::size_t more, const Channel* channel = nullptr, std::int64_t number = 0) {
    op_.awaited = transfer;
    op_.more = more;
    op_.channel = channel;
    op_.number = number;
  }
  /// All messages have ended; the group has not.
  void awaits_all() { op_.transfers = {}; }

 private:
  BlockedOp& op_;
  BlockedOp before_;
};

}  // namespace trigram::sim
