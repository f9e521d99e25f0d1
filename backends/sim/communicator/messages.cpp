// exchange: matches both ends, moves the bytes, and lets SimGrid time the flow.
#include "backends/sim/communicator/messages.hpp"

#include <algorithm>

#include "backends/sim/communicator/in_memory.hpp"
#include "backends/sim/engine/blocking.hpp"
#include "backends/sim/engine/simgrid_version.hpp"
#include "core/values/error.hpp"

namespace trigram::sim {

namespace {

namespace sg = simgrid::s4u;

/// Larger batches pass through a window: SimGrid searches an actor's outstanding activities one by one.
constexpr std::size_t all_at_once = 128;
constexpr std::size_t window = 32;

/// SimGrid hands over a pointer that nobody reads: bytes are copied at the match.
void* unread_payload = nullptr;

int distance(int from, int to, int n) { return (to - from + n) % n; }

}  // namespace

/// The ends of one exchange that have not ended yet. Unless the exchange becomes complete they are withdrawn: their
/// buffers may be gone when a peer comes to match them.
class Messages::Outstanding {
 public:
  Outstanding(Messages& messages, Blocked& blocked, Peers* gone = nullptr)
      : messages_(messages),
        blocked_(blocked),
        posted_(messages.posted_),
        gone_(gone),
        since_(messages.member_.simulation.now()) {
    posted_.clear();
  }
  ~Outstanding() {
    if (!complete_) withdraw();
    posted_.clear();
  }
  Outstanding(const Outstanding&) = delete;
  Outstanding& operator=(const Outstanding&) = delete;

  Posted& add(const Posted& posted) { return posted_.emplace_back(posted); }
  std::size_t size() const { return posted_.size() - first_; }
  void finish_oldest();
  /// Everything has ended well.
  void complete() { complete_ = true; }

 private:
  void withdraw();
  static void let_go(Posted& end);

  Messages& messages_;
  Blocked& blocked_;
  std::vector<Posted>& posted_;
  Peers* gone_;  ///< who is left out; null: nobody is
  double since_;
  std::size_t first_ = 0;
  bool complete_ = false;
};

void Messages::exchange(std::span<const Transfer> transfers) {
  check(transfers);
  carry(transfers, nullptr);
}

std::vector<int> Messages::exchange_with_those_there(std::span<const Transfer> transfers) {
  check(transfers);
  Peers gone;
  carry(member_.simulation.losses().any() ? with_those_known(transfers, gone) : transfers, &gone);
  return {gone.begin(), gone.end()};
}

// Whom this rank has missed before, it does not wait for again.
std::vector<Transfer> Messages::with_those_known(std::span<const Transfer> transfers, Peers& gone) const {
  std::vector<Transfer> known;
  for (const Transfer& transfer : transfers) {
    const bool missed =
        member_.simulation.losses().has_missed(member_.of_world(), member_.group->member(transfer.peer));
    if (missed) {
      gone.insert(transfer.peer);
    } else {
      known.push_back(transfer);
    }
  }
  return known;
}

void Messages::carry(std::span<const Transfer> transfers, Peers* gone) {
  if (transfers.empty()) return;
  Call call(member_, "exchange", transfers);
  blocking([&] {
    Outstanding outstanding(*this, call.blocked, gone);
    if (transfers.size() <= all_at_once) {
      post_all(transfers, outstanding);
    } else {
      for (const Transfer& transfer : in_window_order(transfers)) {
        post_all({&transfer, 1}, outstanding);
        while (outstanding.size() > window) outstanding.finish_oldest();
      }
    }
    while (outstanding.size() > 0) outstanding.finish_oldest();
    check_self_complete(transfers);
    outstanding.complete();
  });
}

void Messages::exchange_rounds(std::span<const Transfer> transfers, int rounds) {
  Call call(member_, "a ring", transfers);
  blocking([&] {
    const Platform& platform = member_.simulation.platform();
    const int from = member_.of_world(), to = member_.group->member(transfers.front().peer);
    const double overhead = platform.message_overhead(from, to);
    const double bytes = static_cast<double>(transfers.front().buffer.modelled_bytes()) / rounds;
    const double later = platform.later_rounds(from, to, bytes, rounds);
    Outstanding outstanding(*this, call.blocked);
    if (overhead > 0) sg::this_actor::sleep_for(overhead);
    start_together(transfers, outstanding, rounds);  // whose oldest is the one that is sent
    while (outstanding.size() > 0) {
      outstanding.finish_oldest();
      if (later > 0 && outstanding.size() == 1) sg::this_actor::sleep_for(later);
    }
    outstanding.complete();
    call.blocked.awaits_all();
    member_.group->meet(member_.rank, [] {});
  });
}

// Where a host takes its time for each message that it sends, what others send it meanwhile finds its place.
void Messages::post_all(std::span<const Transfer> transfers, Outstanding& outstanding) {
  if (member_.simulation.cluster().message_overhead == 0) return start_together(transfers, outstanding);
  std::vector<Transfer> receives;
  std::ranges::copy_if(transfers, std::back_inserter(receives),
                       [](const Transfer& one) { return one.direction == Transfer::Direction::receive; });
  start_together(receives, outstanding);
  for (const Transfer& transfer : transfers) {
    if (transfer.direction == Transfer::Direction::receive) continue;
    const double overhead =
        member_.simulation.platform().message_overhead(member_.of_world(), member_.group->member(transfer.peer));
    if (overhead > 0) sg::this_actor::sleep_for(overhead);
    start_together({&transfer, 1}, outstanding);
  }
}

void Messages::check(std::span<const Transfer> transfers) const {
  for (const Transfer& transfer : transfers) {
    require(transfer.peer >= 0 && transfer.peer < member_.size(), "rank ", transfer.peer, " is no rank of a group of ",
            member_.size(), "; ranks count from 0");
  }
}

// In order of distance, then of position, sends and receives alternate: of all unfinished messages of a group, those
// of the least distance and position are then posted at both ends, so that a window never waits for itself.
std::vector<Transfer> Messages::in_window_order(std::span<const Transfer> transfers) const {
  struct Place {
    int distance;
    int position;
    const Transfer* transfer;
  };
  std::vector<int> sends(static_cast<std::size_t>(member_.size())), receives(static_cast<std::size_t>(member_.size()));
  std::vector<Place> places;
  for (const Transfer& transfer : transfers) {
    const bool send = transfer.direction == Transfer::Direction::send;
    int& position = (send ? sends : receives)[static_cast<std::size_t>(transfer.peer)];
    places.push_back({send ? distance(member_.rank, transfer.peer, member_.size())
                           : distance(transfer.peer, member_.rank, member_.size()),
                      position++, &transfer});
  }
  std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return a.distance != b.distance ? a.distance < b.distance : a.position < b.position;
  });
  std::vector<Transfer> ordered;
  for (const Place& place : places) ordered.push_back(*place.transfer);
  return ordered;
}

// What was matched starts even when a later one has no peer: the other end waits for it.
void Messages::start_together(std::span<const Transfer> transfers, Outstanding& outstanding, int rounds) {
  const std::size_t first = posted_.size();
  std::exception_ptr error;
  try {
    for (const Transfer& transfer : transfers) post(transfer, outstanding, rounds);
  } catch (const std::exception&) {
    error = std::current_exception();
  }
  start_all(std::span(posted_).subspan(first));
  if (error) std::rethrow_exception(error);
}

void Messages::post(const Transfer& transfer, Outstanding& outstanding, int rounds) {
  const bool send = transfer.direction == Transfer::Direction::send;
  const int from = member_.of_world(), to = member_.group->member(transfer.peer);
  Channel& channel =
      send ? member_.group->channel(member_.rank, transfer.peer) : member_.group->channel(transfer.peer, member_.rank);
  member_.group->require_whole(member_.rank);
  member_.simulation.failures().require_alive(from, to);
  Posted& posted = outstanding.add({transfer, &channel, 0, nullptr});
  posted.number = match(channel, transfer);
  if (transfer.peer == member_.rank) return;
  if (send) {
    const std::int64_t bytes = transfer.buffer.modelled_bytes();
    member_.simulation.traffic().count(from, to, bytes);
    const Terms terms = member_.simulation.network().admit({from, to, bytes, rounds});
    posted.comm = channel.mailbox->put_init(this, static_cast<std::uint64_t>(terms.bytes));
    if (terms.seconds > 0) posted.comm->set_rate(terms.rate());
  } else {
    posted.comm = channel.mailbox->get_init()->set_dst_data(&unread_payload, sizeof unread_payload);
  }
}

std::int64_t Messages::match(Channel& channel, const Transfer& transfer) {
  const bool send = transfer.direction == Transfer::Direction::send;
  if (channel.next == channel.waiting.size()) {
    channel.waiting.clear();
    channel.next = 0;
    channel.sends_wait = send;
  }
  if (channel.sends_wait == send) {
    channel.waiting.push_back(transfer.buffer);
    return channel.matched + static_cast<std::int64_t>(channel.waiting.size() - channel.next) - 1;
  }
  if (transfer.peer != member_.rank) member_.group->require_same_work(member_.rank, transfer.peer);
  const Buffer other = channel.waiting[channel.next++];
  if (send) {
    deliver(*member_.group, transfer.buffer, other, member_.rank, transfer.peer);
  } else {
    deliver(*member_.group, other, transfer.buffer, transfer.peer, member_.rank);
  }
  return channel.matched++;
}

void Messages::Outstanding::finish_oldest() {
  Posted& oldest = posted_[first_];
  blocked_.awaits(oldest.transfer, size() - 1, oldest.channel, oldest.number);
  if (oldest.comm != nullptr && !messages_.finish(oldest, since_, gone_ != nullptr)) {
    gone_->insert(oldest.transfer.peer);
    let_go(oldest);
  }
  oldest.comm.reset();
  ++first_;
}

void Messages::Outstanding::let_go(Posted& end) {
  end.comm.detach();  // nobody's from now on: SimGrid complains about a started flow whose last owner lets go
  // What waits in a channel in this direction is all of this exchange.
  if (end.channel->sends_wait == (end.transfer.direction == Transfer::Direction::send))
    end.channel->waiting.resize(end.channel->next);
}

void Messages::Outstanding::withdraw() {
  for (; first_ < posted_.size(); ++first_) let_go(posted_[first_]);
  messages_.member_.group->fail(messages_.member_.rank);
}

bool Messages::finish(Posted& posted, double since, bool alone) {
  const int peer = member_.group->member(posted.transfer.peer);
  if (!(alone ? has_come(posted, since) : has_come_of_all(posted, since))) return false;
  if (posted.transfer.direction == Transfer::Direction::send)
    member_.simulation.network().ended({member_.of_world(), peer, 0}, posted.comm->get_finish_time());
  return true;
}

bool Messages::has_come(const Posted& posted, double since) {
  const int self = member_.of_world(), peer = member_.group->member(posted.transfer.peer);
  const double until = member_.simulation.losses().wait_ends(self, peer, since);
  if (comes_until(posted, until)) return true;
  member_.simulation.losses().miss(self, peer);
  return false;
}

// Whose wait was to end first may have gone on meanwhile.
bool Messages::has_come_of_all(const Posted& posted, double since) {
  const Group::WaitForAll wait(*member_.group, member_.rank, since);
  while (!comes_until(posted, wait.ends())) {
    if (wait.is_over()) member_.group->throw_lost(member_.rank);
  }
  return true;
}

bool Messages::comes_until(const Posted& posted, double until) {
  if (ends_well(posted, until)) return true;
  if (until > member_.simulation.now()) sg::this_actor::sleep_until(until);
  return false;
}

// Comm::wait would have SimGrid run a timer of this host beside every message, to see it fail; an actor whose host
// fails is killed, which ends a wait for any of one message as well.
bool Messages::ends_well(const Posted& posted, double until) {
  const int self = member_.of_world(), peer = member_.group->member(posted.transfer.peer);
  Failures& failures = member_.simulation.failures();
  try {
    return wait_for(posted.comm, until);
  } catch (const simgrid::NetworkFailureException&) {
    if (failures.dead(peer) && member_.simulation.losses().includes(peer)) return false;
    failures.require_alive(self, peer);
    throw BackendError(Failures::lost(self, peer, "a link between them failed"));
  } catch (const simgrid::Exception& error) {
    if (failures.dead(peer) && member_.simulation.losses().includes(peer)) return false;
    throw BackendError(Failures::lost(self, peer, error.what()));
  }
}

void Messages::check_self_complete(std::span<const Transfer> transfers) const {
  if (std::none_of(transfers.begin(), transfers.end(), [&](const Transfer& t) { return t.peer == member_.rank; }))
    return;
  const Channel& own = member_.group->channel(member_.rank, member_.rank);
  ensure(own.next == own.waiting.size(), "rank ", member_.of_world(),
         " has one end of a message to itself in an exchange without the other");
}

}  // namespace trigram::sim
