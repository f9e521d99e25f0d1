// What the ranks of one simulated run share: the platform, who waits for whom, and what ends the run.
#pragma once

#include <array>
#include <deque>
#include <exception>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "backends/sim/cluster/cluster.hpp"
#include "backends/sim/engine/barrier.hpp"
#include "backends/sim/gpu.hpp"
#include "backends/sim/platform/network.hpp"
#include "backends/sim/platform/platform.hpp"
#include "backends/sim/standstill.hpp"
#include "core/lane/message_count.hpp"
#include "core/training/backend.hpp"

namespace trigram::sim {

class Group;
struct Channel;

/// What one actor is blocked in, for the watchdog and for whoever reports a lost peer.
struct Station {
  double since = -1;  ///< simulated seconds; negative while it runs
  const char* operation = "";
  const Group* group = nullptr;              ///< none while it waits for another lane of its rank
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

/// How far a lane has come: what meets on a lane of several ranks is of equal ones.
struct LaneWork {
  std::int64_t step = 0;  ///< of its rank, counted from the first one of this process, when the body was started
  std::int64_t body = 0;  ///< of the lane, from 1 on
};

/// Everything the actors share. SimGrid runs one actor at a time, so there are no locks.
class Simulation {
 public:
  Simulation(const Cluster& cluster, const World& world);
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  /// Starts what keeps the run from hanging, planned events and foreign traffic, beside the actors of `ranks`.
  /// `everybody` is for error messages.
  void watch_over(std::vector<RankRuntime*> ranks, std::shared_ptr<const Group> everybody);
  /// After the run: rethrows the first failure; throws BackendError for a host that failed, or a deadlock where not
  /// all ranks have ended.
  void require_success(bool all_ended) const;
  /// A JSON text for the outcome.
  std::string facts() const;

  const Cluster& cluster() const { return cluster_; }
  const World& world() const { return world_; }
  Platform& platform() { return platform_; }
  Network& network() { return network_; }
  Gpu& gpu(int rank) { return gpus_[static_cast<std::size_t>(rank)]; }
  int ranks() const { return world_.ranks; }
  const LaneLayout& layout() const { return layout_; }
  const std::shared_ptr<const RankMap>& map() const { return map_; }
  int lanes() const { return layout_.lanes(); }
  double now() const { return simgrid::s4u::Engine::get_clock(); }

  /// Ends the run with this error, unless another came first, and releases all other actors. For actors only, outside
  /// of any catch clause.
  void fail(std::exception_ptr error);
  bool failing() const { return failure_ != nullptr; }
  /// An error of a lane that its rank has not asked for yet; it explains a standstill better than the standstill does.
  void remember(std::exception_ptr error);
  /// Its rank has asked for it: what follows is its decision.
  void forget(const std::exception_ptr& error);

  LaneWork& work(int rank, int lane) { return works_[static_cast<std::size_t>(rank * lanes() + lane)]; }
  /// "rank 3, step 5, lane 1 (buckets 0, 2, ...), all_reduce of bucket 2"; the step is left out where it is unknown.
  std::string where(int rank, int lane) const;
  Standstill& standstill() { return standstill_; }
  /// A rank has come to its end.
  void note_end(int rank) { ended_[static_cast<std::size_t>(rank)] = true; }

  Station& station(int rank, int lane) { return stations_[static_cast<std::size_t>(rank * lanes() + lane)]; }
  /// Remembers that a rank's host is gone.
  void bury(int rank);
  /// Throws BackendError when `peer`'s host has failed.
  void require_alive(int rank, int peer) const {
    if (any_dead_) throw_if_dead(rank, peer);
  }
  bool any_dead() const { return any_dead_; }
  /// Throws BackendError when the host of a rank that may still ask has failed.
  void require_askers_alive(int rank) const;
  bool dead(int rank) const {
    return dead_since_[static_cast<std::size_t>(rank)] < std::numeric_limits<double>::infinity();
  }

  /// Counts a message for the NICs that it crosses.
  void count(int from, int to, std::int64_t bytes) {
    auto& messages = message_count();
    messages.store(messages.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    const std::vector<int>& node = platform_.node_of_rank;
    if (node[static_cast<std::size_t>(from)] == node[static_cast<std::size_t>(to)]) return;
    sent_[static_cast<std::size_t>(platform_.nic_of(from))] += bytes;
    received_[static_cast<std::size_t>(platform_.nic_of(to))] += bytes;
  }
  /// Notes that a collective ran, and as what.
  void note(Collective collective, bool fluid) {
    (fluid ? fluid_ : exact_)[static_cast<std::size_t>(collective)] = true;
  }

  /// A collective of a library that chooses by size: where it ran, and for vectors of how many bytes.
  struct Chosen {
    Collective collective;
    int ranks, nodes;
    std::int64_t bytes;
    auto operator<=>(const Chosen&) const = default;
  };
  /// Notes what was chosen, which is asked for once.
  template <class Choice>
  void note_choice(const Chosen& chosen, const Choice& choice) {
    if (!choices_.contains(chosen)) choices_.emplace(chosen, choice());
  }

  /// Somebody begins to wait for others.
  void notice_wait() {
    if (watch_rests_) wake_watch();
  }

  /// All ranks, whatever the mesh is: for who waits, and sends nothing there.
  const Group& everybody() const { return *everybody_; }
  /// This rank asks nobody any more.
  void leave(int rank);
  bool all_left() const { return left_count_ == ranks(); }

  std::int64_t agree(int rank, std::int64_t value, ReduceOp op);
  /// Releases ranks in their order, not in that in which they came: what happens at the same moment from here on is
  /// ordered alike in a training that goes on and in one that went on.
  void meet(int rank);
  void collect(int rank, std::int64_t key, std::vector<std::byte> part,
               const std::function<void(RankRuntime::Parts)>& complete);

  /// "rank 3 lost rank 4 at 0.5 s (simulated): …".
  std::string lost(int rank, int peer, const std::string& why) const;

 private:
  struct Collection {
    RankRuntime::Parts parts;
    int handed_in = 0;
  };

  void start_watchdog();
  void watch();
  std::optional<double> oldest_wait() const;
  bool overdue(double since) const;
  void wake_watch();
  /// Whether no actor of a rank can move, as far as can be seen while others may be about to run in this instant.
  bool seems_to_stand_still() const;
  bool stands_still();
  std::exception_ptr deadlock() const;
  std::exception_ptr timed_out() const;
  std::string waiting_lanes(const std::vector<int>& blocked) const;
  std::vector<int> blocked_lanes() const;
  std::string ended_ranks() const;
  void start_events();
  void strike(const Fault& fault);
  void report_waiting_for(const std::vector<int>& gone);
  bool waits_for(const Station& station, int peer) const;
  void start_background();
  void throw_if_dead(int rank, int peer) const;
  std::string describe(int rank, int lane) const;
  static std::string waited_for(const Station& station);
  nlohmann::json busiest_nic() const;
  /// A sentence where each GPU has a NIC and no node sent through all of its own; empty otherwise.
  std::string idle_rails() const;

  const Cluster& cluster_;
  World world_;
  LaneLayout layout_;
  Platform platform_;
  Network network_;
  std::deque<Gpu> gpus_;  ///< by rank
  std::shared_ptr<const RankMap> map_;
  std::vector<Station> stations_;  ///< by rank, then lane
  std::vector<LaneWork> works_;    ///< likewise
  std::vector<RankRuntime*> runtimes_;
  std::vector<bool> left_;  ///< by rank: asks nobody any more
  int left_count_ = 0;
  std::vector<double> dead_since_;
  bool any_dead_ = false;
  std::exception_ptr failure_;
  std::exception_ptr remembered_;
  std::vector<std::int64_t> sent_, received_;
  Standstill standstill_;
  std::vector<bool> ended_;  ///< by rank
  std::array<bool, 9> exact_{}, fluid_{};
  std::map<Chosen, std::string> choices_;
  std::map<std::int64_t, Collection> collections_;
  bool watch_rests_ = false;
  simgrid::s4u::SemaphorePtr watch_wanted_;
  std::shared_ptr<const Group> everybody_;
  Barrier agreement_;
  std::vector<simgrid::s4u::SemaphorePtr> turns_;  ///< by rank, to go on after it has met the others
  int agreed_ranks_ = 0;
  std::int64_t agreeing_ = 0, agreed_ = 0;
};

/// Marks an actor as blocked while it lives.
class Blocked {
 public:
  Blocked(Simulation& simulation, Station& station, const char* operation, const Group& group,
          std::span<const Transfer> transfers = {})
      : station_(station), before_(station) {
    station_ = {.since = simulation.now(), .operation = operation, .group = &group, .transfers = transfers};
    simulation.notice_wait();
  }
  /// A lane that serves, until somebody asks.
  enum Patience { patient };
  Blocked(Simulation& simulation, Station& station, const char* operation, const Group& group, Patience)
      : station_(station), before_(station) {
    station_ = {.since = simulation.now(), .operation = operation, .group = &group, .patient = true};
  }
  /// The lane that started a body of `lane`, until that has ended.
  Blocked(Simulation& simulation, Station& station, int lane) : station_(station), before_(station) {
    station_ = {.since = simulation.now(), .lane = lane};
  }
  ~Blocked() { station_ = before_; }
  Blocked(const Blocked&) = delete;
  Blocked& operator=(const Blocked&) = delete;

  /// Of the exchange, this message is waited for, and `more` after it.
  void awaits(const Transfer& transfer, std::size_t more, const Channel* channel = nullptr, std::int64_t number = 0) {
    station_.awaited = transfer;
    station_.more = more;
    station_.channel = channel;
    station_.number = number;
  }
  /// All messages have ended; the group has not.
  void awaits_all() { station_.transfers = {}; }

 private:
  Station& station_;
  Station before_;
};

/// "0.5 s".
std::string seconds_text(double seconds);

}  // namespace trigram::sim
