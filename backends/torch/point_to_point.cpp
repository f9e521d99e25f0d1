#include "backends/torch/point_to_point.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "core/lane/real_data.hpp"
#include "core/values/error.hpp"
#include "processes/clock.hpp"

namespace trigram::torch {
namespace {

constexpr std::chrono::milliseconds look{50};
/// Seconds of a wait after which somebody asks whether its peers have ended.
constexpr double worth_asking = 0.5;

}  // namespace

Message message_of(const Transfer& transfer, int world_rank, std::int64_t tag) {
  require_data(transfer.buffer, "torch");
  const bool receives = transfer.direction == Transfer::Direction::receive;
  const std::int64_t bytes = transfer.buffer.bytes();
  return {receives, world_rank, tag, bytes == 0 ? 0 : reinterpret_cast<std::uintptr_t>(transfer.buffer.raw()), bytes};
}

std::string described(const Message& message) {
  return std::string(message.receives != 0 ? "a receive" : "a send") + " of " + std::to_string(message.bytes) +
         " bytes " + (message.receives != 0 ? "from" : "to") + " rank " + std::to_string(message.peer);
}

void PointToPoint::carry(int lane, std::span<const Message> messages, double seconds,
                         const Operation& operation) const {
  const double begun = seconds_now();
  const TransferError error = connections_.carry(lane, messages, seconds);
  if (error.text.empty()) return;
  const std::string what = operation.message(error.message);
  if (seconds > 0 && seconds_now() - begun >= seconds)
    throw BackendError(operation.name() + " has waited " + number_text(seconds) + " s for " + what);
  for (double waited = 0; waited < cause_may_take_; waited += std::chrono::duration<double>(look).count()) {
    throw_the_jobs_failure();
    if (failure_.raised()) failure_.rethrow();
    std::this_thread::sleep_for(look);
  }
  throw BackendError(operation.name() + ": " + what + ": " + error.text);
}

/// Others find it among the exchanges that are under way.
template <class Carried>
auto PointToPoint::while_noted(std::span<const Message> messages, const Operation& operation,
                               const Carried& carried) const {
  struct Noted {
    const PointToPoint& point_to_point;
    std::list<Wait>::iterator wait;
    ~Noted() {
      const std::lock_guard lock(point_to_point.mutex_);
      point_to_point.waits_.erase(wait);
    }
  };
  const auto begin = [&] {
    const std::lock_guard lock(mutex_);
    return waits_.insert(waits_.end(), {messages, &operation, seconds_now(), seconds_now()});
  };
  const Noted noted{*this, begin()};
  return carried();
}

void PointToPoint::exchange(int lane, std::span<const Message> messages, double seconds,
                            const Operation& operation) const {
  while_noted(messages, operation, [&] { carry(lane, messages, seconds, operation); });
}

std::vector<std::size_t> PointToPoint::exchange_with_those_there(int lane, std::span<const Message> messages,
                                                                 double seconds, const Operation& operation) const {
  return while_noted(messages, operation, [&] { return connections_.carry_each(lane, messages, seconds); });
}

bool PointToPoint::waits_for_long() const {
  const std::lock_guard lock(mutex_);
  const double latest = seconds_now() - absence_may_take_;
  return std::ranges::any_of(waits_, [&](const Wait& wait) { return wait.begun < latest; });
}

std::string PointToPoint::in_vain() const {
  for (const auto& [peer, wait] : long_waits()) {
    if (const std::string why = endings_.why_silent(peer); !why.empty()) return wait + ", " + why;
  }
  return {};
}

/// Peers, and what waits for them: asked without the lock, since their place may answer late.
std::vector<std::pair<int, std::string>> PointToPoint::long_waits() const {
  std::vector<std::pair<int, std::string>> found;
  const std::lock_guard lock(mutex_);
  for (Wait& wait : waits_) {
    if (seconds_now() - wait.asked < worth_asking) continue;
    wait.asked = seconds_now();
    for (const Message& message : wait.messages)
      found.emplace_back(static_cast<int>(message.peer),
                         wait.operation->name() + " waits in vain for " + described(message));
  }
  return found;
}

void PointToPoint::throw_the_jobs_failure() const {
  const std::optional<JobFailure> failure = rendezvous_.failure();
  if (!failure || failure->rank == rank()) return;
  throw BackendError("rank " + std::to_string(rank()) + " ends since rank " + std::to_string(failure->rank) +
                     " failed: " + failure->reason);
}

void PointToPoint::end_all() const {
  try {
    connections_.end_all();
  } catch (const std::exception& error) {
    failure_.report(std::current_exception());
  }
}

}  // namespace trigram::torch
