// A rank's end of its connections, which knows why a message did not come.
#pragma once

#include <functional>
#include <list>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backends/process/endings.hpp"
#include "backends/process/lanes/lane_context.hpp"
#include "backends/torch/connections.hpp"
#include "backends/torch/place.hpp"
#include "core/lane/communicator.hpp"
#include "meeting/rendezvous.hpp"

namespace trigram::torch {

/// Names what was to be done, where something went wrong: "exchange 17 of rank 2 ...", and each message by its place.
struct Operation {
  std::function<std::string()> name;
  std::function<std::string(int)> message;
};

/// A transfer with that rank among all. Throws UsageError for a phantom buffer.
Message message_of(const Transfer& transfer, int world_rank, std::int64_t tag);

/// "a send of 40 bytes to rank 2".
std::string described(const Message& message);

/// Shared by all communicators of a rank.
class PointToPoint {
 public:
  /// They outlive it. Connections break before anybody has said why: for `cause_may_take` seconds that is waited for.
  PointToPoint(const Connections& connections, Rendezvous& rendezvous, Failure& failure, Endings& endings,
               const Place& place)
      : connections_(connections),
        rendezvous_(rendezvous),
        failure_(failure),
        endings_(endings),
        cause_may_take_(place.cause_may_take),
        absence_may_take_(connections.carries_each() ? place.absence_may_take : 0) {}

  /// Carries messages of the lane of that index together. Throws BackendError, with the reason why the job ends where
  /// some rank has told one; and this rank's first error where that has made an end of all messages.
  void carry(int lane, std::span<const Message> messages, double seconds, const Operation& operation) const;
  /// The same of messages that are of one step, so that none comes of a rank that has ended before it.
  void exchange(int lane, std::span<const Message> messages, double seconds, const Operation& operation) const;
  /// The same where ranks that are gone are left out: the places of messages that failed, for whatever reason.
  std::vector<std::size_t> exchange_with_those_there(int lane, std::span<const Message> messages, double seconds,
                                                     const Operation& operation) const;
  bool leaves_out() const { return absence_may_take_ > 0; }
  /// Whether some exchange that is under way has waited as long as an absence may take.
  bool waits_for_long() const;
  /// Why some exchange that is under way waits for ever; empty where nobody knows.
  std::string in_vain() const;
  /// Ends all messages of all lanes, here and at their other ends.
  void end_all() const;
  int rank() const { return rendezvous_.rank(); }

 private:
  /// An exchange that is under way.
  struct Wait {
    std::span<const Message> messages;
    const Operation* operation;
    double asked;  ///< whether it is in vain, when, by seconds_now
    double begun;
  };

  template <class Carried>
  auto while_noted(std::span<const Message> messages, const Operation& operation, const Carried& carried) const;
  void throw_the_jobs_failure() const;
  std::vector<std::pair<int, std::string>> long_waits() const;

  const Connections& connections_;
  Rendezvous& rendezvous_;
  Failure& failure_;
  Endings& endings_;
  double cause_may_take_;
  double absence_may_take_;
  mutable std::mutex mutex_;
  mutable std::list<Wait> waits_;
};

}  // namespace trigram::torch
