// What all ranks of a simulated run do together outside of lanes, and at no simulated cost.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <simgrid/s4u.hpp>
#include <vector>

#include "backends/sim/engine/barrier.hpp"
#include "backends/sim/watch.hpp"
#include "core/device/kernels.hpp"

namespace trigram::sim {

class AllRanks {
 public:
  using Complete = std::function<void(RankRuntime::Parts)>;

  AllRanks(int ranks, Losses& losses, const Failures& failures, Watch& watch)
      : ranks_(ranks),
        losses_(losses),
        failures_(failures),
        watch_(watch),
        agreement_(ranks),
        agrees_(static_cast<std::size_t>(ranks)) {}

  /// The group of all, whatever the mesh is: for who waits, and sends nothing there.
  void form(std::shared_ptr<const Members> everybody) { everybody_ = std::move(everybody); }
  const Members& everybody() const { return *everybody_; }

  /// The sum, mean, least or greatest of what all give, planned losses aside. Throws BackendError where another rank is
  /// gone.
  std::int64_t agree(int rank, std::int64_t value, ReduceOp op);
  /// Releases ranks in their order, not in that in which they came: what happens at the same moment from here on is
  /// ordered alike in a training that goes on and in one that went on.
  void meet(int rank);
  /// The same, once all know who is lost; false where somebody is.
  bool meet_those_there(int rank);
  /// A planned loss: nobody waits for it here any more.
  void lose(int rank);
  /// Hands `part` in under `key`; the last rank to do so calls `complete` with the parts of all. Where that is one that
  /// is lost, another one calls its own, when it next comes here.
  void collect(int rank, std::int64_t key, std::vector<std::byte> part, const Complete& complete);

 private:
  struct Collection {
    RankRuntime::Parts parts;
    std::vector<bool> handed_in;       ///< by rank
    int count = 0;                     ///< of those
    std::map<int, Complete> complete;  ///< by rank, where one may be lost
  };

  void end_agreement();
  /// Lets ranks that have met go on one after the other.
  void take_turn(int rank);
  void pass_turn();
  /// The next rank that is there, from this one on; as many as there are where none is.
  int next_there(int rank) const;
  bool is_whole(const Collection& collection) const;
  void complete_for_lost(int rank);

  const int ranks_;
  Losses& losses_;
  const Failures& failures_;
  Watch& watch_;
  std::shared_ptr<const Members> everybody_;
  Barrier agreement_;
  std::vector<simgrid::s4u::SemaphorePtr> turns_;  ///< by rank, to go on after it has met the others
  int turn_ = 0;                                   ///< who goes on next
  int agreed_ranks_ = 0, lost_ = 0;
  std::vector<bool> agrees_;  ///< by rank, whether it has come to the next agreement
  ReduceOp agreeing_by_ = ReduceOp::sum;
  std::int64_t agreeing_ = 0, agreed_ = 0;
  std::map<std::int64_t, Collection> collections_;  ///< by key
};

}  // namespace trigram::sim
