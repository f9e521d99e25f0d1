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
  AllRanks(int ranks, const Failures& failures, Watch& watch)
      : ranks_(ranks), failures_(failures), watch_(watch), agreement_(ranks) {}

  /// The group of all, whatever the mesh is: for who waits, and sends nothing there.
  void form(std::shared_ptr<const Members> everybody) { everybody_ = std::move(everybody); }
  const Members& everybody() const { return *everybody_; }

  /// The sum, mean, least or greatest of what all give. Throws BackendError where a rank is gone.
  std::int64_t agree(int rank, std::int64_t value, ReduceOp op);
  /// Releases ranks in their order, not in that in which they came: what happens at the same moment from here on is
  /// ordered alike in a training that goes on and in one that went on.
  void meet(int rank);
  /// Hands `part` in under `key`; the last rank to do so calls `complete` with the parts of all.
  void collect(int rank, std::int64_t key, std::vector<std::byte> part,
               const std::function<void(RankRuntime::Parts)>& complete);

 private:
  struct Collection {
    RankRuntime::Parts parts;
    int handed_in = 0;
  };

  const int ranks_;
  const Failures& failures_;
  Watch& watch_;
  std::shared_ptr<const Members> everybody_;
  Barrier agreement_;
  std::vector<simgrid::s4u::SemaphorePtr> turns_;  ///< by rank, to go on after it has met the others
  int agreed_ranks_ = 0;
  std::int64_t agreeing_ = 0, agreed_ = 0;
  std::map<std::int64_t, Collection> collections_;  ///< by key
};

}  // namespace trigram::sim
