// Flows that stand for others: a symmetric group's first node sends what every node sends, and a ring or a tree in a
// node lasts as long as one link that carries all its rounds.
#include <algorithm>
#include <bit>
#include <limits>

#include "backends/sim/blocking.hpp"
#include "backends/sim/communicator.hpp"
#include "backends/sim/parts.hpp"
#include "core/collectives/reduction.hpp"
#include "core/error.hpp"

namespace trigram::sim {

namespace {

namespace sg = simgrid::s4u;

/// Flows under way. SimGrid complains about a started one whose last owner lets go.
class Flows {
 public:
  Flows() = default;
  ~Flows() {
    for (; first_ < flows_.size(); ++first_) flows_[first_].detach();  // nobody's from now on
  }
  Flows(const Flows&) = delete;
  Flows& operator=(const Flows&) = delete;

  void start(sg::Host* from, sg::Host* to, std::int64_t bytes) {
    flows_.push_back(sg::Comm::sendto_async(from, to, static_cast<std::uint64_t>(bytes)));
  }
  /// Waits for the next one in order of their start, and says when it ended.
  double finish_next() {
    flows_[first_]->wait();
    return flows_[first_++]->get_finish_time();
  }

 private:
  std::vector<sg::CommPtr> flows_;
  std::size_t first_ = 0;
};

void require_root(int root, int n) {
  require(root >= 0 && root < n, "root ", root, " is no rank of a group of ", n, "; ranks count from 0");
}

}  // namespace

void SimCommunicator::flow(const std::vector<StandIn>& flows,
                           const std::function<void(const StandIn&, double)>& ended) const {
  const Platform& platform = simulation_.platform();
  // All have come: what a timeout allows is counted from here for the flows, as for messages that are sent one by one.
  for (int rank = 0; rank < size(); ++rank)
    simulation_.station(group_->member(rank), group_->lane()).since = simulation_.now();
  Flows under_way;
  for (const StandIn& one : flows)
    under_way.start(platform.hosts[at(group_->member(one.from))], platform.hosts[at(group_->member(one.to))],
                    one.bytes);
  for (const StandIn& one : flows) {
    const int from = group_->member(one.from), to = group_->member(one.to);
    try {
      ended(one, under_way.finish_next());
    } catch (const simgrid::Exception& error) {
      for (const int end : {from, to}) simulation_.require_alive(group_->member(rank_), end);
      const bool link = dynamic_cast<const simgrid::NetworkFailureException*>(&error) != nullptr;
      throw BackendError(simulation_.lost(from, to, link ? "a link between them failed" : error.what()));
    }
  }
}

void SimCommunicator::carry(const std::vector<StandIn>& flows, int rounds) const {
  const double begin = simulation_.now();
  double end = begin;
  flow(flows, [&](const StandIn& one, double finish) { end = std::max(end, time_of(one, rounds, begin, finish)); });
  if (end > simulation_.now()) sg::this_actor::sleep_until(end);
}

// `finish` is when links alone would be done with all bytes. Connections take their own time for them, and the host
// delays each round by a message, or the last of the messages of one round by all others.
double SimCommunicator::time_of(const StandIn& flow, int rounds, double begin, double finish) const {
  const Platform& platform = simulation_.platform();
  const int from = group_->member(flow.from), to = group_->member(flow.to);
  const double overhead = platform.message_overhead(from, to);
  const double rate = Messages{rounds, flow.together}.rate(platform, from, to, flow.bytes);
  const bool limited = rate < std::numeric_limits<double>::infinity();
  if (rounds == 1 && overhead == 0 && !limited) return finish;
  const double latency = platform.latency(from, to);
  const double alone = limited ? static_cast<double>(flow.bytes) / rate : 0;
  double end = limited ? std::max(finish, begin + latency + alone) : finish;
  if (overhead > 0) {
    const double last = std::max(alone * flow.together, finish - begin - latency) / flow.together;
    end = std::max(end + overhead, begin + flow.together * overhead + latency + last);
  }
  return end + (rounds - 1) * (latency + overhead);
}

std::vector<SimCommunicator::StandIn> SimCommunicator::ring_of_first_node(std::int64_t bytes) const {
  if (group_->symmetry() == Symmetry::node) return {{0, 1, bytes}};
  std::vector<StandIn> flows;
  for (const int sender : group_->by_node().front()) flows.push_back({sender, (sender + 1) % size(), bytes});
  return flows;
}

// To others of the own node at the next of them, to all other nodes at the same place of the next node.
std::vector<SimCommunicator::StandIn> SimCommunicator::all_to_all_of_first_node() const {
  const int of_node = static_cast<int>(group_->by_node().front().size());
  std::vector<StandIn> flows;
  for (const int sender : group_->by_node().front()) {
    if (of_node > 1) flows.push_back({sender, (sender + 1) % of_node, bytes_between(sender, Reach::own_node)});
    if (of_node < size())
      flows.push_back({sender, sender + of_node, bytes_between(sender, Reach::other_nodes), size() - of_node});
  }
  return flows;
}

std::int64_t SimCommunicator::bytes_between(int sender, Reach reach) const {
  const std::span<const Buffer> parts = group_->meeting().send[at(sender)];
  std::int64_t own = 0, all = 0;
  for (const int peer : group_->by_node()[at(group_->node_of(sender))]) own += parts[at(peer)].modelled_bytes();
  if (reach == Reach::own_node) return own - parts[at(sender)].modelled_bytes();
  for (const Buffer& part : parts) all += part.modelled_bytes();
  return all - own;
}

// Inside a node nobody is in another's way, and nobody is done before the root's ⌈log₂ n⌉ messages, which its link
// carries one after the other.
template <class Move>
void SimCommunicator::tree(const char* name, Buffer x, StandIn flow, const Move& move) {
  enter();
  group_->meeting().buffers[at(rank_)] = x;
  const Blocked blocked(simulation_, simulation_.station(group_->member(rank_), group_->lane()), name, *group_);
  const int rounds = std::bit_width(static_cast<unsigned>(size() - 1));
  blocking([&] {
    group_->meet(rank_, [&] {
      check_same_sizes();
      move(group_->meeting().buffers);
      flow.bytes = rounds * x.modelled_bytes();
      carry({flow}, rounds);
    });
  });
}

void SimCommunicator::broadcast(Buffer x, int root) {
  if (!performs(Collective::broadcast)) return Communicator::broadcast(x, root);
  require_root(root, size());
  tree("broadcast", x, {root, (root + 1) % size(), 0}, [&](const std::vector<Buffer>& all) {
    for (const Buffer& one : all) copy_bytes(all[at(root)], one);
  });
}

// Place p, counted from the root, adds the places p + 1, p + 2, p + 4, … that are below it in the tree.
void SimCommunicator::reduce(Buffer x, ReduceOp op, int root) {
  if (!performs(Collective::reduce)) return Communicator::reduce(x, op, root);
  require_root(root, size());
  tree("reduce", x, {(root + 1) % size(), root, 0}, [&](const std::vector<Buffer>& all) {
    if (x.is_phantom() || x.count() == 0) return;
    const int n = size();
    const ReduceOp sum_or_op = op == ReduceOp::mean ? ReduceOp::sum : op;
    for (int bit = 1; bit < n; bit *= 2) {
      for (int place = 0; place + bit < n; place += 2 * bit)
        device_.kernels().reduce(sum_or_op, all[at((root + place + bit) % n)], all[at((root + place) % n)]);
    }
    finish_mean(*this, op, all[at(root)]);
  });
}

}  // namespace trigram::sim
