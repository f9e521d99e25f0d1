#include "backends/sim/failures.hpp"

#include <algorithm>
#include <cstdio>
#include <simgrid/s4u.hpp>

#include "core/values/error.hpp"

namespace trigram::sim {

namespace sg = simgrid::s4u;

std::string seconds_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g s", seconds);
  return text;
}

Failures::Failures(int ranks, const Losses& losses) : losses_(losses), left_(static_cast<std::size_t>(ranks)) {
  dead_since_.assign(left_.size(), std::numeric_limits<double>::infinity());
}

void Failures::fail(std::exception_ptr error) {
  if (failing()) return;
  failure_ = remembered_ ? remembered_ : error;
  sg::Actor::kill_all();
}

void Failures::note_standstill(std::exception_ptr deadlock) {
  if (!failing()) failure_ = remembered_ ? remembered_ : deadlock;
}

void Failures::remember(std::exception_ptr error) {
  if (!remembered_) remembered_ = error;
}

void Failures::forget(const std::exception_ptr& error) {
  if (remembered_ == error) remembered_ = nullptr;
}

void Failures::mark_dead(int rank) {
  any_dead_ = true;
  double& since = dead_since_[static_cast<std::size_t>(rank)];
  since = std::min(since, sg::Engine::get_clock());
}

void Failures::throw_if_dead(int rank, int peer) const {
  if (!dead(peer) || losses_.includes(peer)) return;
  throw BackendError(lost(rank, peer,
                          "the host of rank " + std::to_string(peer) + " failed at " +
                              seconds_text(dead_since_[static_cast<std::size_t>(peer)])));
}

void Failures::require_askers_alive(int rank) const {
  for (int peer = 0; any_dead_ && peer < ranks(); ++peer) {
    if (!left_[static_cast<std::size_t>(peer)]) throw_if_dead(rank, peer);
  }
}

void Failures::leave(int rank) {
  if (has_left(rank)) return;
  left_[static_cast<std::size_t>(rank)] = true;
  ++left_count_;
}

void Failures::require_none() const {
  if (failure_) std::rethrow_exception(failure_);
  for (int rank = 0; rank < ranks(); ++rank) {
    if (dead(rank) && !losses_.includes(rank)) {
      throw BackendError("the host of rank " + std::to_string(rank) + " failed at " +
                         seconds_text(dead_since_[static_cast<std::size_t>(rank)]) +
                         " (simulated), before the rank had ended; its peers did not need it any more");
    }
  }
}

std::string Failures::lost(int rank, int peer, const std::string& why) {
  return "rank " + std::to_string(rank) + " lost rank " + std::to_string(peer) + " at " +
         seconds_text(sg::Engine::get_clock()) + " (simulated): " + why;
}

}  // namespace trigram::sim
