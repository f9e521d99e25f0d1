// The table of collectives: what each is called, takes, does on top of exchange, costs a rank, and sends to whom.
#include <array>

#include "core/collectives/bodies.hpp"
#include "core/lane/all_reduce.hpp"

namespace trigram {
namespace {

using Takes = CollectiveKind::Takes;

/// Modelled bytes of all parts but one.
std::int64_t bytes_but(std::span<const Buffer> parts, int left_out) {
  std::int64_t bytes = 0;
  for (int rank = 0; rank < static_cast<int>(parts.size()); ++rank) {
    if (rank != left_out) bytes += parts[static_cast<std::size_t>(rank)].modelled_bytes();
  }
  return bytes;
}

Cost one_round(const Communicator& comm, std::int64_t bytes) { return {comm.size() > 1 ? 1 : 0, bytes}; }
bool is_root(const Communicator& comm, const CollectiveCall& call) { return comm.rank() == call.root; }

Cost all_reduce_cost(const Communicator& comm, const CollectiveCall& call) {
  return comm.all_reduce_algorithm().cost_at(comm.place(), call.x.modelled_count(), size_of(call.x.dtype()));
}
Cost cost_of_reduce_scatter(const Communicator& comm, const CollectiveCall& call) {
  return reduce_scatter_cost(comm.size(), comm.rank(), call.x.modelled_count(), size_of(call.x.dtype()));
}
Cost cost_of_all_gather(const Communicator& comm, const CollectiveCall& call) {
  if (!call.parts.empty()) return {comm.size() - 1, bytes_but(call.parts, (comm.rank() + 1) % comm.size())};
  return all_gather_cost(comm.size(), comm.rank(), call.x.modelled_count(), size_of(call.x.dtype()));
}
Cost all_to_all_cost(const Communicator& comm, const CollectiveCall& call) {
  return one_round(comm, bytes_but(call.parts, comm.rank()));
}
Cost cost_of_broadcast(const Communicator& comm, const CollectiveCall& call) {
  return broadcast_cost(comm.size(), comm.rank(), call.x.modelled_bytes(), call.root);
}
Cost cost_of_reduce(const Communicator& comm, const CollectiveCall& call) {
  return reduce_cost(comm.size(), comm.rank(), call.x.modelled_bytes(), call.root);
}
Cost gather_cost(const Communicator& comm, const CollectiveCall& call) {
  return one_round(comm, is_root(comm, call) ? 0 : call.x.modelled_bytes());
}
Cost scatter_cost(const Communicator& comm, const CollectiveCall& call) {
  return one_round(comm, is_root(comm, call) ? bytes_but(call.parts, call.root) : 0);
}
Cost cost_of_barrier(const Communicator& comm, const CollectiveCall&) { return barrier_cost(comm.size(), comm.rank()); }

/// All of them, around a ring.
void to_next(const Communicator& comm, const CollectiveCall& call, MessageVisitor& visitor) {
  visitor.sent((comm.rank() + 1) % comm.size(), kind_of(call.collective).cost(comm, call).bytes);
}
void to_each(const Communicator& comm, const CollectiveCall& call, MessageVisitor& visitor) {
  for (int peer = 0; peer < comm.size(); ++peer)
    visitor.sent(peer, call.parts[static_cast<std::size_t>(peer)].modelled_bytes());
}
void from_root_to_each(const Communicator& comm, const CollectiveCall& call, MessageVisitor& visitor) {
  if (is_root(comm, call)) to_each(comm, call, visitor);
}
void to_root(const Communicator& comm, const CollectiveCall& call, MessageVisitor& visitor) {
  if (!is_root(comm, call)) visitor.sent(call.root, call.x.modelled_bytes());
}
void to_nobody(const Communicator&, const CollectiveCall&, MessageVisitor&) {}

/// Places in the binomial tree of broadcast and reduce count from its root.
int place_from(const Communicator& comm, int root) { return (comm.rank() - root + comm.size()) % comm.size(); }
int rank_at(const Communicator& comm, int root, int place) { return (root + place) % comm.size(); }

void to_children(const Communicator& comm, const CollectiveCall& call, MessageVisitor& visitor) {
  const int place = place_from(comm, call.root);
  for (int bit = 1; place + bit < comm.size() && (place & bit) == 0; bit *= 2)
    visitor.sent(rank_at(comm, call.root, place + bit), call.x.modelled_bytes());
}
void to_parent(const Communicator& comm, const CollectiveCall& call, MessageVisitor& visitor) {
  const int place = place_from(comm, call.root);
  if (place != 0) visitor.sent(rank_at(comm, call.root, place & (place - 1)), call.x.modelled_bytes());
}

constexpr std::array<CollectiveKind, collective_count> kinds{{
    {"all_reduce", Takes::vector, by_exchange::all_reduce, all_reduce_cost, to_next},
    {"reduce_scatter", Takes::vector, by_exchange::reduce_scatter, cost_of_reduce_scatter, to_next},
    {"all_gather", Takes::vector, by_exchange::all_gather, cost_of_all_gather, to_next},
    {"all_to_all", Takes::sent_and_received, by_exchange::all_to_all, all_to_all_cost, to_each},
    {"broadcast", Takes::vector, by_exchange::broadcast, cost_of_broadcast, to_children},
    {"reduce", Takes::vector, by_exchange::reduce, cost_of_reduce, to_parent},
    {"gather", Takes::own_and_all_on_root, by_exchange::gather, gather_cost, to_root},
    {"scatter", Takes::own_and_all_on_root, by_exchange::scatter, scatter_cost, from_root_to_each},
    {"barrier", Takes::nothing, by_exchange::barrier, cost_of_barrier, to_nobody},
}};

}  // namespace

const CollectiveKind& kind_of(Collective collective) { return kinds[static_cast<std::size_t>(collective)]; }
const char* name_of(Collective collective) { return kind_of(collective).name; }

}  // namespace trigram
