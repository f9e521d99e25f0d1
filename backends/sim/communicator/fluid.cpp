// Collectives as sets of concurrent flows: O(ranks) of them instead of O(ranks²), or those of one node, the same
// numbers to the bit.
#include <algorithm>
#include <array>

#include "backends/sim/communicator/communicator.hpp"
#include "backends/sim/communicator/parts.hpp"
#include "backends/sim/engine/blocking.hpp"
#include "core/collectives/reduction.hpp"
#include "core/values/error.hpp"

namespace trigram::sim {

namespace {

Buffer flow_of(std::int64_t bytes) { return {nullptr, Shape{bytes, DType::u8, bytes, true}}; }

/// Modelled bytes of all chunks of x but one.
std::int64_t without_chunk(Buffer x, int chunk, int n) {
  return x.modelled_bytes() - x.chunk(chunk, n).modelled_bytes();
}

}  // namespace

// A ring of equal parts is one flow; one large part would pass from rank to rank, round after round.
bool SimCommunicator::has_fluid_form(const CollectiveCall& call) const {
  switch (call.collective) {
    case Collective::all_reduce:
      return all_reduce_algorithm().is_ring() || all_reduce_algorithm().pipelined();
    case Collective::all_gather: {
      PartSizes sizes;
      sizes.add(call.parts);
      return call.parts.empty() || sizes.nearly_equal();
    }
    case Collective::reduce_scatter:
    case Collective::all_to_all:
    case Collective::barrier:
      return true;
    case Collective::broadcast:
    case Collective::reduce:
      return group_->symmetry() == Symmetry::node;
    default:
      return false;
  }
}

bool SimCommunicator::performs(const CollectiveCall& call) {
  const bool fluid = fluid_ && size() > 1 && has_fluid_form(call);
  simulation_.note(call.collective, fluid);
  return fluid || (chosen(call.collective) && call.parts.empty()) ||
         (call.collective == Collective::all_reduce && size() > 1 && all_reduce_algorithm().pipelined());
}

void SimCommunicator::perform(const CollectiveCall& call) {
  if (!performs(call)) return Communicator::perform(call);
  switch (call.collective) {
    case Collective::all_reduce:
      return all_reduce(call.x, call.op);
    case Collective::reduce_scatter:
      return reduce_scatter(call.x, call.op);
    case Collective::all_gather:
      return call.parts.empty() ? all_gather(call.x) : all_gather_parts(call.parts);
    case Collective::all_to_all:
      return all_to_all(call.parts, call.received);
    case Collective::broadcast:
      return broadcast(call.x, call.root);
    case Collective::reduce:
      return reduce(call.x, call.op, call.root);
    case Collective::barrier:
      return barrier();
    default:
      return Communicator::perform(call);
  }
}

void SimCommunicator::enter(Buffer x) {
  group_->require_whole(rank_);
  if (simulation_.any_dead()) {
    for (const int member : group_->members()) simulation_.require_alive(group_->member(rank_), member);
  }
  group_->meeting().buffers[at(rank_)] = x;
}

void SimCommunicator::check_same_sizes() const {
  const Buffer& first = group_->meeting().buffers.front();
  for (int rank = 1; rank < size(); ++rank) {
    const Buffer& x = group_->meeting().buffers[at(rank)];
    if (same_size(x, first)) continue;
    throw Error("rank " + std::to_string(group_->member(rank)) + " brings " + std::to_string(x.modelled_bytes()) +
                " bytes to a collective, rank " + std::to_string(group_->member(0)) + " brings " +
                std::to_string(first.modelled_bytes()) + "; all ranks must agree");
  }
}

// What the next ranks of a ring get is what they send, moved by one.
template <class Move, class Volume>
void SimCommunicator::ring(const char* name, int rounds, const Volume& volume, const Move& move) {
  const int n = size();
  const bool stood_for = group_->symmetry() != Symmetry::none;
  const Call call(*this, name);
  blocking([&] {
    group_->meet(rank_, [&] {
      move();
      if (!stood_for) return;
      std::int64_t most = 0;
      for (int sender = 0; sender < n; ++sender) most = std::max(most, volume(sender));
      carry(ring_of_first_node(most), rounds);
    });
  });
  if (!stood_for) return ring_flow(volume(rank_), volume((rank_ + n - 1) % n), rounds);
  simulation_.count(group_->member(rank_), group_->member((rank_ + 1) % n), volume(rank_));
}

void SimCommunicator::all_reduce(Buffer x, ReduceOp op) {
  if (all_reduce_algorithm().pipelined()) return all_reduce_pipelined(x, op);
  enter(x);
  const int n = size();
  // Reduce-scatter keeps a rank's own chunk and brings it; all-gather leaves out the next rank's.
  const auto volume = [&](int sender) { return without_chunk(x, sender, n) + without_chunk(x, (sender + 1) % n, n); };
  ring("all_reduce", 2 * (n - 1), volume, [&] {
    reduce_chunks(op);
    gather_chunks();
  });
}

void SimCommunicator::reduce_scatter(Buffer x, ReduceOp op) {
  if (chosen(Collective::reduce_scatter))
    return flow_as_chosen(Collective::reduce_scatter, x, 0, [&] { reduce_chunks(op); });
  enter(x);
  const int n = size();
  ring(
      "reduce_scatter", n - 1, [&](int sender) { return without_chunk(x, sender, n); }, [&] { reduce_chunks(op); });
}

void SimCommunicator::all_gather(Buffer x) {
  if (chosen(Collective::all_gather)) return flow_as_chosen(Collective::all_gather, x, 0, [&] { gather_chunks(); });
  enter(x);
  const int n = size();
  ring(
      "all_gather", n - 1, [&](int sender) { return without_chunk(x, (sender + 1) % n, n); }, [&] { gather_chunks(); });
}

void SimCommunicator::all_gather_parts(std::span<const Buffer> parts) {
  const int n = size();
  ensure(parts.size() == at(n), "all_gather needs one buffer a rank");
  enter({});
  Meeting& meeting = group_->meeting();
  meeting.send[at(rank_)] = parts;
  std::int64_t total = 0;
  for (const Buffer& part : parts) total += part.modelled_bytes();
  const auto volume = [&](int sender) { return total - parts[at((sender + 1) % n)].modelled_bytes(); };
  ring("all_gather", n - 1, volume, [&] {
    for (int from = 0; from < n; ++from) {
      for (int to = 0; to < n; ++to)
        deliver(meeting.send[at(from)][at(from)], meeting.send[at(to)][at(from)], from, to);
    }
  });
}

void SimCommunicator::all_to_all(std::span<const Buffer> send, std::span<const Buffer> receive) {
  const int n = size();
  ensure(send.size() == at(n) && receive.size() == at(n), "all_to_all needs one buffer a rank");
  enter({});
  Meeting& meeting = group_->meeting();
  meeting.send[at(rank_)] = send;
  meeting.receive[at(rank_)] = receive;
  PartSizes& sizes = meeting.sizes[at(rank_)] = {};
  sizes.add(send);
  sizes.add(receive);
  const Call call(*this, "all_to_all");
  blocking([&] {
    group_->meet(rank_, [&] {
      PartSizes all;
      for (const PartSizes& one : meeting.sizes) all.add(one);
      if (!all.equal_phantoms()) deliver_all();
      meeting.even = group_->symmetry() != Symmetry::none && all.nearly_equal();
      if (meeting.even) carry(all_to_all_of_first_node(), 1);
    });
  });
  if (!meeting.even) return simulation_.network().limits_messages() ? flows_to_ranks() : flows_to_nodes();
  const int like = (rank_ + static_cast<int>(group_->by_node().front().size())) % n;
  simulation_.count(group_->member(rank_), group_->member(like), bytes_between(rank_, Reach::other_nodes));
}

// One flow to each node, that of its own among them, then leave together.
void SimCommunicator::flows_to_nodes() {
  const Meeting& meeting = group_->meeting();
  const auto bytes_to_node = [&](int sender, const std::vector<int>& ranks) {
    std::int64_t bytes = 0;
    for (const int r : ranks) bytes += r == sender ? 0 : meeting.send[at(sender)][at(r)].modelled_bytes();
    return bytes;
  };
  // A flow to another node goes to the rank with this local rank (counted round), the flow inside the node to the next.
  const auto receiver = [&](int sender, const std::vector<int>& ranks) {
    const int place = group_->local_rank(sender);
    const bool own = ranks[at(place) % ranks.size()] == sender;
    return ranks[at(place + (own ? 1 : 0)) % ranks.size()];
  };
  std::vector<Transfer> transfers;
  const int own_node = group_->node_of(rank_);
  const std::vector<int>& mine = group_->by_node()[at(own_node)];
  const int nodes = static_cast<int>(group_->by_node().size());
  for (int step = 0; step < nodes; ++step) {
    const std::vector<int>& to = group_->by_node()[at((own_node + step) % nodes)];
    if (receiver(rank_, to) != rank_)
      transfers.push_back(Transfer::send_to(receiver(rank_, to), flow_of(bytes_to_node(rank_, to))));
    for (const int sender : group_->by_node()[at((own_node - step + nodes) % nodes)]) {
      if (sender == rank_ || receiver(sender, mine) != rank_) continue;
      transfers.push_back(Transfer::receive_from(sender, flow_of(bytes_to_node(sender, mine))));
    }
  }
  exchange(transfers);
  blocking([&] { group_->meet(rank_, [] {}); });
}

// Where connections and hosts limit single messages, a flow cannot stand for several: it would share links as one does.
void SimCommunicator::flows_to_ranks() {
  const Meeting& meeting = group_->meeting();
  const auto bytes = [&](int from, int to) { return flow_of(meeting.send[at(from)][at(to)].modelled_bytes()); };
  const int n = size();
  std::vector<Transfer> transfers;
  for (int distance = 1; distance < n; ++distance) {
    const int to = (rank_ + distance) % n, from = (rank_ + n - distance) % n;
    transfers.push_back(Transfer::send_to(to, bytes(rank_, to)));
    transfers.push_back(Transfer::receive_from(from, bytes(from, rank_)));
  }
  exchange(transfers);
  blocking([&] { group_->meet(rank_, [] {}); });
}

// Its messages are empty, so that nobody is in another's way: the rounds are sums of latencies.
void SimCommunicator::barrier() {
  enter({});
  const Call call(*this, "barrier");
  blocking([&] {
    group_->meet(rank_, [&] { group_->meeting().waits = barrier_waits(); });
    simgrid::s4u::this_actor::sleep_for(group_->meeting().waits[at(rank_)]);
  });
}

// Dissemination: in the round of distance d a message from r to r + d starts when both are there, and both go on when
// it has arrived.
std::vector<double> SimCommunicator::barrier_waits() const {
  const int n = size();
  std::vector<double> waits(at(n), 0.0);
  for (int distance = 1; distance < n; distance *= 2) {
    const std::vector<double> before = waits;
    for (int from = 0; from < n; ++from) {
      const int to = (from + distance) % n;
      const int sender = group_->member(from), receiver = group_->member(to);
      const double arrived = std::max(before[at(from)], before[at(to)]) +
                             simulation_.platform().message_overhead(sender, receiver) +
                             simulation_.platform().latency(sender, receiver);
      waits[at(from)] = std::max(waits[at(from)], arrived);
      waits[at(to)] = std::max(waits[at(to)], arrived);
    }
  }
  return waits;
}

// Every rank answers for its own link: its flow, then what its later rounds pay in latency. A ring runs at the pace of
// its slowest link, which is the last to be done.
void SimCommunicator::ring_flow(std::int64_t sent, std::int64_t received, int rounds) {
  const int n = size();
  const int next = (rank_ + 1) % n;
  const std::array transfers{Transfer::send_to(next, flow_of(sent)),
                             Transfer::receive_from((rank_ + n - 1) % n, flow_of(received))};
  Call call(*this, "a ring", transfers);
  blocking([&] {
    const Platform& platform = simulation_.platform();
    const int from = group_->member(rank_), to = group_->member(next);
    const double overhead = platform.message_overhead(from, to);
    const double before_a_round = platform.latency(from, to) + overhead;
    Outstanding outstanding(*this, call.blocked);
    if (overhead > 0) simgrid::s4u::this_actor::sleep_for(overhead);
    start_together(transfers, outstanding, rounds);  // whose oldest is the one that is sent
    while (outstanding.size() > 0) {
      outstanding.finish_oldest();
      if (rounds > 1 && outstanding.size() == 1) simgrid::s4u::this_actor::sleep_for((rounds - 1) * before_a_round);
    }
    outstanding.complete();
    call.blocked.awaits_all();
    group_->meet(rank_, [] {});
  });
}

// As the rounds do: chunk i = x_{i+1} + x_{i+2} + … + x_i, held by the rank that adds last.
void SimCommunicator::reduce_chunks(ReduceOp op) {
  const std::vector<Buffer>& x = group_->meeting().buffers;
  const int n = size();
  check_same_sizes();
  if (x.front().is_phantom()) return;
  const ReduceOp sum_or_op = op == ReduceOp::mean ? ReduceOp::sum : op;
  for (int chunk = 0; chunk < n; ++chunk) {
    for (int step = 2; step <= n; ++step) {
      const Buffer held = x[at((chunk + step) % n)].chunk(chunk, n);
      if (held.count() == 0) continue;
      device_.kernels().reduce(sum_or_op, x[at((chunk + step - 1) % n)].chunk(chunk, n), held);
    }
    finish_mean(*this, op, x[at(chunk)].chunk(chunk, n));
  }
}

void SimCommunicator::gather_chunks() {
  const std::vector<Buffer>& x = group_->meeting().buffers;
  const int n = size();
  check_same_sizes();
  if (x.front().is_phantom()) return;
  for (int chunk = 0; chunk < n; ++chunk) {
    for (int to = 0; to < n; ++to) copy_bytes(x[at(chunk)].chunk(chunk, n), x[at(to)].chunk(chunk, n));
  }
}

void SimCommunicator::deliver_all() const {
  const Meeting& meeting = group_->meeting();
  for (int from = 0; from < size(); ++from) {
    for (int to = 0; to < size(); ++to)
      deliver(meeting.send[at(from)][at(to)], meeting.receive[at(to)][at(from)], from, to);
  }
}

}  // namespace trigram::sim
