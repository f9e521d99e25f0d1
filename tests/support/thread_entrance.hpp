// Where threads that the backend did not start become its ranks.
#pragma once

#include <memory>
#include <mutex>

#include "core/backend.hpp"

namespace trigram {

/// Worlds that fill with ranks in the order in which they come. Any thread may enter.
class ThreadEntrance {
 public:
  ThreadEntrance();
  ~ThreadEntrance();
  ThreadEntrance(const ThreadEntrance&) = delete;
  ThreadEntrance& operator=(const ThreadEntrance&) = delete;

  /// Returns when all ranks of the world are there.
  std::unique_ptr<EnteredRank> enter(const World& world, const std::vector<int>& node_of_rank, double timeout);

 private:
  class Hall;
  class Rank;

  std::mutex mutex_;
  std::shared_ptr<Hall> filling_;  ///< null where nobody waits
};

}  // namespace trigram
