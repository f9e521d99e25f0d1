// Ranks that are lost at planned seconds, and that the others go on without.
#pragma once

#include <set>
#include <span>
#include <utility>
#include <vector>

#include "core/world/world.hpp"

namespace trigram::sim {

/// How long the others wait for each of them, and who has noticed that it is gone. Ranks are those of the world.
class Losses {
 public:
  explicit Losses(const World& world);

  bool any() const { return !all_.empty(); }
  const std::vector<LostRank>& all() const { return all_; }
  /// Whether it is lost sooner or later.
  bool includes(int rank) const;
  /// When `rank`, which waits for `peer` since then, leaves it out: at once where it has missed it before. Never for
  /// one that is not lost.
  double wait_ends(int rank, int peer, double since) const;
  /// The same of what takes all of them: when the first one is missed.
  double wait_ends(int rank, std::span<const int> peers, double since) const;
  /// `rank` has waited for it in vain.
  void miss(int rank, int peer) { missed_.emplace(peer, rank); }
  bool has_missed(int rank, int peer) const { return missed_.contains({peer, rank}) || missed_.contains({peer, peer}); }
  /// Of those that are lost by that second, whether one was missed by nobody.
  bool has_unnoticed(double second) const;
  /// All have met, and know who has been lost by that second.
  void notice(double second);
  /// Until one that should be there is known to be gone.
  double detection_s() const { return detection_s_; }

 private:
  std::vector<LostRank> all_;
  double detection_s_;
  std::set<std::pair<int, int>> missed_;  ///< who, by whom; by itself: by all
};

}  // namespace trigram::sim
