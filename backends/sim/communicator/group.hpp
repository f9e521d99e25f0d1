// The ranks of a communicator on one lane, and what they share: channels and meetings.
#pragma once

#include <map>
#include <memory>
#include <simgrid/s4u.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "backends/sim/channel.hpp"
#include "backends/sim/communicator/parts.hpp"
#include "backends/sim/engine/barrier.hpp"
#include "backends/sim/members.hpp"
#include "core/lane/communicator.hpp"

namespace trigram::sim {

class Simulation;

/// A rendezvous of the group's ranks in a collective.
struct Meeting {
  explicit Meeting(int ranks) : gate(ranks) {}

  Barrier gate;
  int arrived = 0;
  int first = 0;                                       ///< who came first
  std::vector<Buffer> buffers;                         ///< by rank
  std::vector<std::span<const Buffer>> send, receive;  ///< by rank
  std::vector<double> waits;                           ///< of a barrier, by rank, in seconds
  std::vector<std::int64_t> sent_to_other_nodes;       ///< of an all-reduce whose chunks flow, by rank
  std::vector<PartSizes> sizes;                        ///< of an all-to-all, by rank: what it sends and receives
  bool even = false;                                   ///< of an all-to-all: all parts have nearly the same size
  std::vector<std::int64_t> brought, heard;            ///< of a split, by rank
  std::map<int, std::shared_ptr<class Group>> parts;   ///< of a split, by their places
};

/// Where few flows stand for those of a whole group, since its ranks are on alike links and all do the same.
enum class Symmetry : std::uint8_t {
  none,
  node,  ///< the ranks of one node: what is on one rank's link is on all
  nodes  ///< the same ranks of every node, in node order: what the first node sends, every node sends
};

/// Shared by the communicators of its ranks.
class Group : public Members {
 public:
  Group(Simulation& simulation, std::vector<int> members, int lane, std::string name);

  int lane() const { return lane_; }
  Simulation& simulation() { return simulation_; }

  Channel& channel(int from, int to);
  /// After an exchange of `rank` has failed nothing matches here any more as it was meant.
  void fail(int rank);
  /// Throws BackendError on `rank` when an exchange of the group has failed.
  void require_whole(int rank) const {
    if (failed_rank_ >= 0) throw_failed(rank);
  }
  /// While it lives, `rank` waits for what takes all of them, since that second.
  class WaitForAll {
   public:
    WaitForAll(Group& group, int rank, double since);
    ~WaitForAll() { group_.wait_ends_.erase(rank_); }
    WaitForAll(const WaitForAll&) = delete;
    WaitForAll& operator=(const WaitForAll&) = delete;
    /// When the first who waits misses a planned loss; never where all are there.
    double ends() const;
    /// Whether somebody has, so that nobody waits any longer.
    bool is_over() const { return group_.failed_rank_ >= 0 || ends() <= group_.now(); }

   private:
    Group& group_;
    int rank_;
  };
  /// Of a planned loss among its ranks, which `rank` misses from now on. Throws BackendError.
  [[noreturn]] void throw_lost(int rank);
  /// Throws BackendError where one of its ranks is gone; of a planned loss, once `rank` has missed it.
  void require_all_there(int rank);
  bool lacks_one() const;
  Meeting& meeting() { return meeting_; }
  /// Throws Error, naming both, where two ranks meet in what was not meant for each other: of another step (but for the
  /// background lane, where ranks may be at different ones) or another body of the lane.
  void require_same_work(int rank, int other) const;
  /// Blocks `rank` until every rank is here; the last to come runs `last` first. Costs no simulated time. Throws as
  /// require_same_work does.
  template <class Last>
  void meet(int rank, Last&& last) {
    if (meeting_.arrived == 0) {
      meeting_.first = rank;
    } else {
      require_same_work(rank, meeting_.first);
    }
    if (++meeting_.arrived == size()) {
      meeting_.arrived = 0;
      try {
        if (!ending()) last();
      } catch (...) {
        fail(rank);
        throw;
      }
    }
    wait_at_gate(rank);
  }
  /// The members on each node, in node order; nodes without members are left out.
  const std::vector<std::vector<int>>& by_node() const { return by_node_; }
  /// The index in by_node of a member's node.
  int node_of(int rank) const { return node_of_[static_cast<std::size_t>(rank)]; }
  /// The place of a member among those of its node.
  int local_rank(int rank) const { return local_rank_[static_cast<std::size_t>(rank)]; }
  Symmetry symmetry() const { return symmetry_; }

 private:
  [[noreturn]] void throw_failed(int rank) const;
  double now() const;
  void wait_at_gate(int rank);
  /// Whether a rank has failed: its memory is gone, and everybody ends in this instant.
  bool ending() const;
  Symmetry find_symmetry() const;

  Simulation& simulation_;
  int lane_;
  std::map<int, double> wait_ends_;  ///< of ranks that wait for what takes all of them
  int failed_rank_ = -1;
  double failed_at_ = 0;
  std::vector<std::unordered_map<int, Channel>> channels_;  ///< by sender, then receiver
  Meeting meeting_;
  std::vector<std::vector<int>> by_node_;
  std::vector<int> node_of_, local_rank_;
  Symmetry symmetry_ = Symmetry::none;
};

}  // namespace trigram::sim
