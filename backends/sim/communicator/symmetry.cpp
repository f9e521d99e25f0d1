// Flows that stand for others: a symmetric group's first node sends what every node sends, and a ring or a tree in a
// node lasts as long as one link that carries all its rounds.
#include <algorithm>
#include <bit>

#include "backends/sim/communicator/communicator.hpp"
#include "backends/sim/communicator/parts.hpp"
#include "backends/sim/engine/blocking.hpp"
#include "core/collectives/reduction.hpp"
#include "core/values/error.hpp"

namespace trigram::sim {

namespace {

namespace sg = simgrid::s4u;

/// SimGrid complains about a started flow whose last owner lets go.
class FlowsUnderWay {
 public:
  FlowsUnderWay() = default;
  ~FlowsUnderWay() {
    for (; first_ < flows_.size(); ++first_) flows_[first_].comm.detach();  // nobody's from now on
  }
  FlowsUnderWay(const FlowsUnderWay&) = delete;
  FlowsUnderWay& operator=(const FlowsUnderWay&) = delete;

  void add(const Flow& flow) { flows_.push_back(flow); }
  /// Waits for the next one in order of their start.
  const Flow& finish_next() {
    flows_[first_].comm->wait();
    return flows_[first_++];
  }

 private:
  std::vector<Flow> flows_;
  std::size_t first_ = 0;
};

void require_root(int root, int n) {
  require(root >= 0 && root < n, "root ", root, " is no rank of a group of ", n, "; ranks count from 0");
}

}  // namespace

Load SimCommunicator::load(const StandIn& flow, int rounds) const {
  return {group_->member(flow.from), group_->member(flow.to), flow.bytes, rounds, flow.together};
}

void SimCommunicator::flow(const std::vector<StandIn>& flows, int rounds,
                           const std::function<void(const StandIn&, double)>& ended) const {
  // All have come: what a timeout allows is counted from here for the flows, as for messages that are sent one by one.
  for (int rank = 0; rank < size(); ++rank)
    simulation_.station(group_->member(rank), group_->lane()).since = simulation_.now();
  const double begin = simulation_.now();
  Network& network = simulation_.network();
  FlowsUnderWay under_way;
  for (const StandIn& one : flows) {
    under_way.add(network.start(load(one, rounds)));
    if (network.remembers() && group_->symmetry() == Symmetry::nodes) admit_others(one, rounds);
  }
  for (const StandIn& one : flows) {
    const Load its = load(one, rounds);
    try {
      ended(one, end_of(its, under_way.finish_next(), begin));
    } catch (const simgrid::Exception& error) {
      for (const int end : {its.from, its.to}) simulation_.require_alive(group_->member(rank_), end);
      const bool link = dynamic_cast<const simgrid::NetworkFailureException*>(&error) != nullptr;
      throw BackendError(simulation_.lost(its.from, its.to, link ? "a link between them failed" : error.what()));
    }
    network.ended(its);
  }
}

void SimCommunicator::admit_others(const StandIn& flow, int rounds) const {
  const auto& nodes = group_->by_node();
  const auto moved = [&](int rank, std::size_t by) {
    return nodes[(at(group_->node_of(rank)) + by) % nodes.size()][at(group_->local_rank(rank))];
  };
  const Load its = load(flow, rounds);
  if (!simulation_.platform().between_nodes(its.from, its.to)) return;
  const double latency = simulation_.platform().latency(its.from, its.to);
  for (std::size_t by = 1; by < nodes.size(); ++by) {
    const StandIn other{moved(flow.from, by), moved(flow.to, by), flow.bytes, flow.together};
    simulation_.network().admit_between_nodes(load(other, rounds), latency);
  }
}

void SimCommunicator::carry(const std::vector<StandIn>& flows, int rounds) const {
  double latest = simulation_.now();
  flow(flows, rounds, [&](const StandIn&, double end) { latest = std::max(latest, end); });
  if (latest > simulation_.now()) sg::this_actor::sleep_until(latest);
}

// A flow ends when links alone would be done with all bytes. Connections take their own time for them, and the host
// delays each round by a message, or the last of the messages of one round by all others.
double SimCommunicator::end_of(const Load& load, const Flow& flow, double begin) const {
  const Platform& platform = simulation_.platform();
  const double finish = flow.comm->get_finish_time();
  const double overhead = platform.message_overhead(load.from, load.to);
  const double alone = flow.terms.seconds;
  if (load.rounds == 1 && overhead == 0 && alone == 0) return finish;
  const double latency = platform.latency(load.from, load.to);
  double end = alone > 0 ? std::max(finish, begin + latency + alone) : finish;
  if (overhead > 0) {
    const double last = std::max(alone, (finish - begin - latency) / load.together);
    end = std::max(end + overhead, begin + load.together * overhead + latency + last);
  }
  return end + (load.rounds - 1) * (latency + overhead);
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
  enter(x);
  const Call call(*this, name);
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
  require_root(root, size());
  const auto move = [&](const std::vector<Buffer>& all) {
    for (const Buffer& one : all) copy_bytes(all[at(root)], one);
  };
  if (chosen(Collective::broadcast))
    return flow_as_chosen(Collective::broadcast, x, root, [&] { move(group_->meeting().buffers); });
  tree("broadcast", x, {root, (root + 1) % size(), 0}, move);
}

// Place p, counted from the root, adds the places p + 1, p + 2, p + 4, … that are below it in the tree.
void SimCommunicator::reduce(Buffer x, ReduceOp op, int root) {
  require_root(root, size());
  const auto move = [&](const std::vector<Buffer>& all) {
    if (x.is_phantom() || x.count() == 0) return;
    const int n = size();
    const ReduceOp sum_or_op = op == ReduceOp::mean ? ReduceOp::sum : op;
    for (int bit = 1; bit < n; bit *= 2) {
      for (int place = 0; place + bit < n; place += 2 * bit)
        device_.kernels().reduce(sum_or_op, all[at((root + place + bit) % n)], all[at((root + place) % n)]);
    }
    finish_mean(*this, op, all[at(root)]);
  };
  if (chosen(Collective::reduce))
    return flow_as_chosen(Collective::reduce, x, root, [&] { move(group_->meeting().buffers); });
  tree("reduce", x, {(root + 1) % size(), root, 0}, move);
}

}  // namespace trigram::sim
