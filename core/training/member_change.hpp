// A world becomes another: who of the old one is who in the new one.
#pragma once

#include <algorithm>
#include <vector>

namespace trigram {

/// Of each rank of the new world, which of the old one it was. In either the first ones train, and the others serve.
struct MemberChange {
  static constexpr int newcomer = -1;

  int ranks = 0;                ///< of the old world
  int trained = 0;              ///< of those
  std::vector<int> were = {};   ///< by rank of the new world
  int train = 0;                ///< of those
  std::vector<int> lost = {};   ///< of the old world: what they held is gone, but not the rows that they had made
  std::vector<int> apart = {};  ///< of the old world: they trained without the others, whom they need not be alike

  /// Ranks keep their numbers: the last leave, or newcomers come behind them.
  static MemberChange of_size(int ranks, int trained, int now, int train) {
    MemberChange change{ranks, trained, {}, train, {}};
    for (int rank = 0; rank < now; ++rank) change.were.push_back(rank < ranks ? rank : newcomer);
    return change;
  }

  /// Which rank a new one was, if it did then what it does now; else it is a newcomer.
  int was(int rank) const {
    const int then = were[static_cast<std::size_t>(rank)];
    return then >= 0 && (then < trained) == (rank < train) ? then : newcomer;
  }
  /// Whether everybody goes on as who it was.
  bool is_none() const {
    for (int rank = 0; rank < ranks; ++rank) {
      if (static_cast<std::size_t>(rank) >= were.size() || was(rank) != rank) return false;
    }
    return were.size() == static_cast<std::size_t>(ranks) && lost.empty() && apart.empty();
  }
  /// Whether a rank of the old world that trained goes on doing so.
  bool stays(int then) const {
    for (int rank = 0; rank < train; ++rank) {
      if (was(rank) == then) return true;
    }
    return false;
  }
};

}  // namespace trigram
