// Single messages between the ranks of a group: both ends are matched, bytes are copied, and SimGrid times the flow.
#pragma once

#include <set>
#include <span>
#include <vector>

#include "backends/sim/communicator/group_rank.hpp"

namespace trigram::sim {

/// The messages of one rank. Those of a batch start together, and end in the order in which they were posted.
class Messages {
 public:
  explicit Messages(const GroupRank& member) : member_(member) {}

  /// As Communicator::exchange.
  void exchange(std::span<const Transfer> transfers);
  /// As Communicator::exchange_with_those_there: planned losses are left out.
  std::vector<int> exchange_with_those_there(std::span<const Transfer> transfers);
  /// Posts the send and the receive of a ring, in this order, each of which stands for `rounds` messages in a row.
  /// The sender waits for the latency of each round beyond the first. Ends when all ranks of the group have
  /// come to the end of theirs.
  void exchange_rounds(std::span<const Transfer> transfers, int rounds);

 private:
  struct Posted {
    Transfer transfer;
    Channel* channel;
    std::int64_t number;         ///< among the messages of its channel
    simgrid::s4u::CommPtr comm;  ///< none to oneself
  };
  class Outstanding;

  /// Of the group, in ascending order.
  using Peers = std::set<int>;

  void check(std::span<const Transfer> transfers) const;
  /// Puts those who are left out into `gone`; where there is none, nobody is.
  void carry(std::span<const Transfer> transfers, Peers* gone);
  std::vector<Transfer> with_those_known(std::span<const Transfer> transfers, Peers& gone) const;
  void post_all(std::span<const Transfer> transfers, Outstanding& outstanding);
  /// Each stands for `rounds` messages, one after the other.
  void start_together(std::span<const Transfer> transfers, Outstanding& outstanding, int rounds = 1);
  void post(const Transfer& transfer, Outstanding& outstanding, int rounds);
  /// Returns the message's number among those of its channel.
  std::int64_t match(Channel& channel, const Transfer& transfer);
  /// Whether it has come; else its peer, or without `alone` one of the group, is lost, and has been missed.
  bool finish(Posted& posted, double since, bool alone);
  bool has_come(const Posted& posted, double since);
  /// The same of a message that the whole group takes. Throws BackendError in place of false.
  bool has_come_of_all(const Posted& posted, double since);
  /// Of a peer that is lost nothing comes, which shows at that second.
  bool comes_until(const Posted& posted, double until);
  bool ends_well(const Posted& posted, double until);
  std::vector<Transfer> in_window_order(std::span<const Transfer> transfers) const;
  void check_self_complete(std::span<const Transfer> transfers) const;

  const GroupRank& member_;
  std::vector<Posted> posted_;
};

}  // namespace trigram::sim
