// Bytes that all ranks of a run on threads bring, one gathering after the other.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>

#include "backends/threads/wait.hpp"
#include "processes/host_group.hpp"

namespace trigram::threads {

/// Shared by all ranks, each of which calls from one thread.
class Gatherings {
 public:
  explicit Gatherings(int ranks);
  int ranks() const { return ranks_; }
  /// Everybody's bytes, in rank order, once all have brought theirs.
  HostGroup::Parts all_gather(int rank, const Bytes& own, const Wait& wait);

 private:
  struct Gathering;

  int ranks_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<Gathering> filling_;
};

}  // namespace trigram::threads
