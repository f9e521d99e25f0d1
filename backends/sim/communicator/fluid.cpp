#include "backends/sim/communicator/fluid.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "backends/sim/communicator/in_memory.hpp"
#include "backends/sim/engine/blocking.hpp"
#include "core/lane/all_reduce.hpp"
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
bool FluidCollectives::has_form(const CollectiveCall& call, const Communicator& comm) const {
  switch (call.collective) {
    case Collective::all_reduce:
      return comm.all_reduce_algorithm().is_ring() || comm.all_reduce_algorithm().pipelined();
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
      return member_.group->symmetry() == Symmetry::node;
    default:
      return false;
  }
}

void FluidCollectives::perform(const CollectiveCall& call, Communicator& comm) const {
  switch (call.collective) {
    case Collective::all_to_all:
      return all_to_all(call);
    case Collective::broadcast:
      return tree(call, comm, {call.root, (call.root + 1) % member_.size(), 0});
    case Collective::reduce:
      return tree(call, comm, {(call.root + 1) % member_.size(), call.root, 0});
    case Collective::barrier:
      return barrier();
    default:
      return call.parts.empty() ? ring_of_chunks(call, comm) : all_gather_parts(call.parts);
  }
}

// What the next ranks of a ring get is what they send, moved by one. Every rank answers for its own link: its flow,
// then what its later rounds pay in latency. A ring runs at the pace of its slowest link, which is the last to be done.
template <class Move, class Volume>
void FluidCollectives::ring(const char* name, int rounds, const Volume& volume, const Move& move) const {
  const int n = member_.size(), rank = member_.rank;
  const bool stood_for = member_.group->symmetry() != Symmetry::none;
  const Call here(member_, name);
  blocking([&] {
    member_.group->meet(rank, [&] {
      move();
      if (!stood_for) return;
      std::int64_t most = 0;
      for (int sender = 0; sender < n; ++sender) most = std::max(most, volume(sender));
      stand_ins_.carry(stand_ins_.ring_of_first_node(most), rounds);
    });
  });
  const int next = (rank + 1) % n, previous = (rank + n - 1) % n;
  if (stood_for)
    return member_.simulation.traffic().count(member_.of_world(), member_.group->member(next), volume(rank));
  const std::array transfers{Transfer::send_to(next, flow_of(volume(rank))),
                             Transfer::receive_from(previous, flow_of(volume(previous)))};
  messages_.exchange_rounds(transfers, rounds);
}

template <class Volume>
void FluidCollectives::ring_of_vectors(const CollectiveCall& call, Communicator& comm, int rounds,
                                       const Volume& volume) const {
  member_.enter(call.x);
  ring(name_of(call.collective), rounds, volume, [&] {
    require_same_sizes(*member_.group);
    perform_in_memory(comm, call, member_.brought());
  });
}

// Reduce-scatter keeps a rank's own chunk and brings it; all-gather leaves out the next rank's.
void FluidCollectives::ring_of_chunks(const CollectiveCall& call, Communicator& comm) const {
  const int n = member_.size();
  const auto scattered = [&](int sender) { return without_chunk(call.x, sender, n); };
  const auto gathered = [&](int sender) { return without_chunk(call.x, (sender + 1) % n, n); };
  if (call.collective == Collective::reduce_scatter) return ring_of_vectors(call, comm, n - 1, scattered);
  if (call.collective == Collective::all_gather) return ring_of_vectors(call, comm, n - 1, gathered);
  ring_of_vectors(call, comm, 2 * (n - 1), [&](int sender) { return scattered(sender) + gathered(sender); });
}

void FluidCollectives::all_gather_parts(std::span<const Buffer> parts) const {
  const int n = member_.size();
  ensure(parts.size() == at(n), "all_gather needs one buffer a rank");
  member_.enter({});
  Meeting& meeting = member_.group->meeting();
  meeting.send[at(member_.rank)] = parts;
  std::int64_t total = 0;
  for (const Buffer& part : parts) total += part.modelled_bytes();
  const auto volume = [&](int sender) { return total - parts[at((sender + 1) % n)].modelled_bytes(); };
  ring("all_gather", n - 1, volume, [&] {
    for (int from = 0; from < n; ++from) {
      for (int to = 0; to < n; ++to)
        deliver(*member_.group, meeting.send[at(from)][at(from)], meeting.send[at(to)][at(from)], from, to);
    }
  });
}

void FluidCollectives::all_to_all(const CollectiveCall& call) const {
  const std::span<const Buffer> send = call.parts, receive = call.received;
  const int n = member_.size();
  ensure(send.size() == at(n) && receive.size() == at(n), "all_to_all needs one buffer a rank");
  member_.enter({});
  Meeting& meeting = member_.group->meeting();
  meeting.send[at(member_.rank)] = send;
  meeting.receive[at(member_.rank)] = receive;
  PartSizes& sizes = meeting.sizes[at(member_.rank)] = {};
  sizes.add(send);
  sizes.add(receive);
  const Call here(member_, "all_to_all");
  blocking([&] {
    member_.group->meet(member_.rank, [&] {
      PartSizes all;
      for (const PartSizes& one : meeting.sizes) all.add(one);
      if (!all.equal_phantoms()) deliver_all();
      meeting.even = member_.group->symmetry() != Symmetry::none && all.nearly_equal();
      if (meeting.even) stand_ins_.carry(stand_ins_.all_to_all_of_first_node(), 1);
    });
  });
  if (!meeting.even) return member_.simulation.network().limits_messages() ? flows_to_ranks() : flows_to_nodes();
  const int like = (member_.rank + static_cast<int>(member_.group->by_node().front().size())) % n;
  member_.simulation.traffic().count(member_.of_world(), member_.group->member(like),
                                     stand_ins_.bytes_between(member_.rank, StandIns::Reach::other_nodes));
}

// One flow to each node, that of its own among them, then leave together.
void FluidCollectives::flows_to_nodes() const {
  const Meeting& meeting = member_.group->meeting();
  const auto bytes_to_node = [&](int sender, const std::vector<int>& ranks) {
    std::int64_t bytes = 0;
    for (const int r : ranks) bytes += r == sender ? 0 : meeting.send[at(sender)][at(r)].modelled_bytes();
    return bytes;
  };
  // A flow to another node goes to the rank with this local rank (counted round), the flow inside the node to the next.
  const auto receiver = [&](int sender, const std::vector<int>& ranks) {
    const int place = member_.group->local_rank(sender);
    const bool own = ranks[at(place) % ranks.size()] == sender;
    return ranks[at(place + (own ? 1 : 0)) % ranks.size()];
  };
  std::vector<Transfer> transfers;
  const int own_node = member_.group->node_of(member_.rank);
  const std::vector<int>& mine = member_.group->by_node()[at(own_node)];
  const int nodes = static_cast<int>(member_.group->by_node().size());
  for (int step = 0; step < nodes; ++step) {
    const std::vector<int>& to = member_.group->by_node()[at((own_node + step) % nodes)];
    if (receiver(member_.rank, to) != member_.rank)
      transfers.push_back(Transfer::send_to(receiver(member_.rank, to), flow_of(bytes_to_node(member_.rank, to))));
    for (const int sender : member_.group->by_node()[at((own_node - step + nodes) % nodes)]) {
      if (sender == member_.rank || receiver(sender, mine) != member_.rank) continue;
      transfers.push_back(Transfer::receive_from(sender, flow_of(bytes_to_node(sender, mine))));
    }
  }
  messages_.exchange(transfers);
  blocking([&] { member_.group->meet(member_.rank, [] {}); });
}

// Where connections and hosts limit single messages, a flow cannot stand for several: it would share links as one does.
void FluidCollectives::flows_to_ranks() const {
  const Meeting& meeting = member_.group->meeting();
  const auto bytes = [&](int from, int to) { return flow_of(meeting.send[at(from)][at(to)].modelled_bytes()); };
  const int n = member_.size();
  std::vector<Transfer> transfers;
  for (int distance = 1; distance < n; ++distance) {
    const int to = (member_.rank + distance) % n, from = (member_.rank + n - distance) % n;
    transfers.push_back(Transfer::send_to(to, bytes(member_.rank, to)));
    transfers.push_back(Transfer::receive_from(from, bytes(from, member_.rank)));
  }
  messages_.exchange(transfers);
  blocking([&] { member_.group->meet(member_.rank, [] {}); });
}

// Its messages are empty, so that nobody is in another's way: the rounds are sums of latencies.
void FluidCollectives::barrier() const {
  member_.enter({});
  const Call here(member_, "barrier");
  blocking([&] {
    member_.group->meet(member_.rank, [&] { member_.group->meeting().waits = barrier_waits(); });
    simgrid::s4u::this_actor::sleep_for(member_.group->meeting().waits[at(member_.rank)]);
  });
}

// Dissemination: in the round of distance d a message from r to r + d starts when both are there, and both go on when
// it has arrived.
std::vector<double> FluidCollectives::barrier_waits() const {
  const int n = member_.size();
  std::vector<double> waits(at(n), 0.0);
  for (int distance = 1; distance < n; distance *= 2) {
    const std::vector<double> before = waits;
    for (int from = 0; from < n; ++from) {
      const int to = (from + distance) % n;
      const int sender = member_.group->member(from), receiver = member_.group->member(to);
      const double arrived = std::max(before[at(from)], before[at(to)]) +
                             member_.simulation.platform().message_overhead(sender, receiver) +
                             member_.simulation.platform().latency(sender, receiver);
      waits[at(from)] = std::max(waits[at(from)], arrived);
      waits[at(to)] = std::max(waits[at(to)], arrived);
    }
  }
  return waits;
}

// Inside a node nobody is in another's way, and nobody is done before the root's ⌈log₂ n⌉ messages, which its link
// carries one after the other.
void FluidCollectives::tree(const CollectiveCall& call, Communicator& comm, StandIn flow) const {
  require_root(call, member_.size());
  member_.enter(call.x);
  const Call here(member_, name_of(call.collective));
  const int rounds = std::bit_width(static_cast<unsigned>(member_.size() - 1));
  blocking([&] {
    member_.group->meet(member_.rank, [&] {
      require_same_sizes(*member_.group);
      perform_in_memory(comm, call, member_.brought());
      flow.bytes = rounds * call.x.modelled_bytes();
      stand_ins_.carry({flow}, rounds);
    });
  });
}

void FluidCollectives::deliver_all() const {
  const Meeting& meeting = member_.group->meeting();
  for (int from = 0; from < member_.size(); ++from) {
    for (int to = 0; to < member_.size(); ++to)
      deliver(*member_.group, meeting.send[at(from)][at(to)], meeting.receive[at(to)][at(from)], from, to);
  }
}

}  // namespace trigram::sim
