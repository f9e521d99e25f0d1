// exchange: matches both ends, moves the bytes, and lets SimGrid time the flow.
#include "backends/sim/communicator/communicator.hpp"

#include <algorithm>

#include "backends/sim/communicator/parts.hpp"
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

SimCommunicator::SimCommunicator(std::shared_ptr<Group> group, int rank, Device& device, bool fluid)
    : group_(std::move(group)), rank_(rank), device_(device), fluid_(fluid), simulation_(group_->simulation()) {}

void SimCommunicator::exchange(std::span<const Transfer> transfers) {
  check(transfers);
  if (transfers.empty()) return;
  Call call(*this, "exchange", transfers);
  blocking([&] {
    Outstanding outstanding(*this, call.blocked);
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

// Where a host takes its time for each message that it sends, what others send it meanwhile finds its place.
void SimCommunicator::post_all(std::span<const Transfer> transfers, Outstanding& outstanding) {
  if (simulation_.cluster().message_overhead == 0) return start_together(transfers, outstanding);
  std::vector<Transfer> receives;
  std::ranges::copy_if(transfers, std::back_inserter(receives),
                       [](const Transfer& one) { return one.direction == Transfer::Direction::receive; });
  start_together(receives, outstanding);
  for (const Transfer& transfer : transfers) {
    if (transfer.direction == Transfer::Direction::receive) continue;
    const double overhead =
        simulation_.platform().message_overhead(group_->member(rank_), group_->member(transfer.peer));
    if (overhead > 0) sg::this_actor::sleep_for(overhead);
    start_together({&transfer, 1}, outstanding);
  }
}

void SimCommunicator::check(std::span<const Transfer> transfers) const {
  for (const Transfer& transfer : transfers) {
    require(transfer.peer >= 0 && transfer.peer < size(), "rank ", transfer.peer, " is no rank of a group of ", size(),
            "; ranks count from 0");
  }
}

// In order of distance, then of position, sends and receives alternate: of all unfinished messages of a group, those
// of the least distance and position are then posted at both ends, so that a window never waits for itself.
std::vector<Transfer> SimCommunicator::in_window_order(std::span<const Transfer> transfers) const {
  struct Place {
    int distance;
    int position;
    const Transfer* transfer;
  };
  std::vector<int> sends(static_cast<std::size_t>(size())), receives(static_cast<std::size_t>(size()));
  std::vector<Place> places;
  for (const Transfer& transfer : transfers) {
    const bool send = transfer.direction == Transfer::Direction::send;
    int& position = (send ? sends : receives)[static_cast<std::size_t>(transfer.peer)];
    places.push_back({send ? distance(rank_, transfer.peer, size()) : distance(transfer.peer, rank_, size()),
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
void SimCommunicator::start_together(std::span<const Transfer> transfers, Outstanding& outstanding, int rounds) {
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

void SimCommunicator::post(const Transfer& transfer, Outstanding& outstanding, int rounds) {
  const bool send = transfer.direction == Transfer::Direction::send;
  const int from = group_->member(rank_), to = group_->member(transfer.peer);
  Channel& channel = send ? group_->channel(rank_, transfer.peer) : group_->channel(transfer.peer, rank_);
  group_->require_whole(rank_);
  simulation_.require_alive(from, to);
  Posted& posted = outstanding.add({transfer, &channel, 0, nullptr});
  posted.number = match(channel, transfer);
  if (transfer.peer == rank_) return;
  if (send) {
    const std::int64_t bytes = transfer.buffer.modelled_bytes();
    simulation_.count(from, to, bytes);
    const Terms terms = simulation_.network().admit({from, to, bytes, rounds});
    posted.comm = channel.mailbox->put_init(this, static_cast<std::uint64_t>(terms.bytes));
    if (terms.seconds > 0) posted.comm->set_rate(terms.rate());
  } else {
    posted.comm = channel.mailbox->get_init()->set_dst_data(&unread_payload, sizeof unread_payload);
  }
}

std::int64_t SimCommunicator::match(Channel& channel, const Transfer& transfer) {
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
  if (transfer.peer != rank_) group_->require_same_work(rank_, transfer.peer);
  const Buffer other = channel.waiting[channel.next++];
  if (send) {
    deliver(transfer.buffer, other, rank_, transfer.peer);
  } else {
    deliver(other, transfer.buffer, transfer.peer, rank_);
  }
  return channel.matched++;
}

void SimCommunicator::deliver(Buffer from, Buffer to, int sender, int receiver) const {
  if (simulation_.failing()) return;  // the rank that failed has freed its memory; all others end in this instant
  if (!same_size(from, to)) {
    throw Error("rank " + std::to_string(group_->member(sender)) + " sends " + size_text(from) + " where rank " +
                std::to_string(group_->member(receiver)) + " receives " + size_text(to) +
                "; both ends of a message must agree");
  }
  copy_bytes(from, to);
}

void SimCommunicator::Outstanding::finish_oldest() {
  Posted& oldest = posted_[first_];
  blocked_.awaits(oldest.transfer, size() - 1, oldest.channel, oldest.number);
  if (oldest.comm != nullptr) communicator_.finish(oldest);
  oldest.comm.reset();
  ++first_;
}

void SimCommunicator::Outstanding::withdraw() {
  for (; first_ < posted_.size(); ++first_) {
    Posted& end = posted_[first_];
    end.comm.detach();  // nobody's from now on: SimGrid complains about a started flow whose last owner lets go
    // What waits in a channel in this direction is all of this exchange.
    if (end.channel->sends_wait == (end.transfer.direction == Transfer::Direction::send))
      end.channel->waiting.resize(end.channel->next);
  }
  communicator_.group_->fail(communicator_.rank_);
}

// Comm::wait would have SimGrid run a timer of this host beside every message, to see it fail; an actor whose host
// fails is killed, which ends a wait for any of one message as well.
void SimCommunicator::finish(Posted& posted) {
  const int peer = group_->member(posted.transfer.peer);
  try {
    wait_for(posted.comm);
  } catch (const simgrid::NetworkFailureException&) {
    simulation_.require_alive(group_->member(rank_), peer);
    throw BackendError(simulation_.lost(group_->member(rank_), peer, "a link between them failed"));
  } catch (const simgrid::Exception& error) {
    throw BackendError(simulation_.lost(group_->member(rank_), peer, error.what()));
  }
  if (posted.transfer.direction == Transfer::Direction::send)
    simulation_.network().ended({group_->member(rank_), peer, 0});
}

void SimCommunicator::check_self_complete(std::span<const Transfer> transfers) {
  if (std::none_of(transfers.begin(), transfers.end(), [&](const Transfer& t) { return t.peer == rank_; })) return;
  const Channel& own = group_->channel(rank_, rank_);
  ensure(own.next == own.waiting.size(), "rank ", group_->member(rank_),
         " has one end of a message to itself in an exchange without the other");
}

// Costs no simulated time. What all have brought is copied once all are there: who goes on first may bring the next.
std::vector<std::int64_t> SimCommunicator::everybodys(std::int64_t value) {
  Meeting& meeting = group_->meeting();
  meeting.brought[static_cast<std::size_t>(rank_)] = value;
  const Blocked blocked(simulation_, simulation_.station(group_->member(rank_), group_->lane()), "split", *group_);
  blocking([&] {
    group_->meet(rank_, [&] {
      meeting.heard = meeting.brought;
      meeting.parts.clear();
    });
  });
  return meeting.heard;
}

std::unique_ptr<Communicator> SimCommunicator::regroup(const GroupPart& part) {
  std::shared_ptr<Group>& made = group_->meeting().parts[part.index];
  if (made == nullptr) {
    std::vector<int> members;
    for (const int rank : part.members) members.push_back(group_->member(rank));
    made = std::make_shared<Group>(simulation_, std::move(members), group_->lane(),
                                   "a group split from " + group_->name());
  }
  const auto rank = static_cast<int>(std::ranges::find(part.members, rank_) - part.members.begin());
  return std::make_unique<SimCommunicator>(made, rank, device_, fluid_);
}

}  // namespace trigram::sim
