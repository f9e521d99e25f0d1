// Which hosts of a simulated run have failed, and the first error, with which the run ends.
#pragma once

#include <exception>
#include <limits>
#include <string>
#include <vector>

#include "backends/sim/losses.hpp"

namespace trigram::sim {

/// "0.5 s".
std::string seconds_text(double seconds);

class Failures {
 public:
  Failures(int ranks, const Losses& losses);

  /// Ends the run with this error, unless another came first, and releases all other actors. For actors only, outside
  /// of any catch clause.
  void fail(std::exception_ptr error);
  /// The same where SimGrid has found that no actor can move any more, and ends them by itself.
  void note_standstill(std::exception_ptr deadlock);
  bool failing() const { return failure_ != nullptr; }
  /// An error of a lane that its rank has not asked for yet; it explains a standstill better than the standstill does.
  void remember(std::exception_ptr error);
  /// Its rank has asked for it: what follows is its decision.
  void forget(const std::exception_ptr& error);

  /// Remembers that a rank's host is gone.
  void mark_dead(int rank);
  bool any_dead() const { return any_dead_; }
  bool dead(int rank) const {
    return dead_since_[static_cast<std::size_t>(rank)] < std::numeric_limits<double>::infinity();
  }
  /// Throws BackendError when `peer`'s host has failed, but for a planned loss, which is missed after a while.
  void require_alive(int rank, int peer) const {
    if (any_dead_) throw_if_dead(rank, peer);
  }

  /// This rank asks nobody any more.
  void leave(int rank);
  bool has_left(int rank) const { return left_[static_cast<std::size_t>(rank)]; }
  bool all_left() const { return left_count_ == ranks(); }
  /// Throws BackendError when the host of a rank that may still ask has failed.
  void require_askers_alive(int rank) const;

  /// After the run: rethrows the first failure; throws BackendError for a host that failed and was no planned loss.
  void require_none() const;
  /// "rank 3 lost rank 4 at 0.5 s (simulated): …".
  static std::string lost(int rank, int peer, const std::string& why);

 private:
  int ranks() const { return static_cast<int>(left_.size()); }
  void throw_if_dead(int rank, int peer) const;

  const Losses& losses_;
  std::vector<bool> left_;  ///< by rank
  int left_count_ = 0;
  std::vector<double> dead_since_;  ///< by rank, in seconds
  bool any_dead_ = false;
  std::exception_ptr failure_;
  std::exception_ptr remembered_;
};

}  // namespace trigram::sim
