#include "backends/sim/communicator/stand_ins.hpp"

#include <algorithm>

#include "core/values/error.hpp"

namespace trigram::sim {
namespace {

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

}  // namespace

Load StandIns::load(const StandIn& flow, int rounds) const {
  return {member_.group->member(flow.from), member_.group->member(flow.to), flow.bytes, rounds, flow.together};
}

void StandIns::flow(const std::vector<StandIn>& flows, int rounds, bool for_others,
                    const std::function<void(const StandIn&, double)>& ended) const {
  // All have come: what a timeout allows is counted from here for the flows, as for messages that are sent one by one.
  for (int rank = 0; rank < member_.size(); ++rank)
    member_.simulation.watch().op(member_.group->member(rank), member_.group->lane()).since = member_.simulation.now();
  const double begin = member_.simulation.now();
  Network& network = member_.simulation.network();
  FlowsUnderWay under_way;
  for (const StandIn& one : flows) {
    under_way.add(network.start(load(one, rounds)));
    if (for_others && network.remembers()) admit_others(one, rounds);
  }
  for (const StandIn& one : flows) {
    const Load its = load(one, rounds);
    try {
      const double end = end_of(its, under_way.finish_next(), begin);
      network.ended(its, end);
      ended(one, end);
    } catch (const simgrid::Exception& error) {
      for (const int end : {its.from, its.to}) member_.simulation.failures().require_alive(member_.of_world(), end);
      const bool link = dynamic_cast<const simgrid::NetworkFailureException*>(&error) != nullptr;
      throw BackendError(
          member_.simulation.failures().lost(its.from, its.to, link ? "a link between them failed" : error.what()));
    }
  }
}

void StandIns::admit_others(const StandIn& flow, int rounds) const {
  const auto& nodes = member_.group->by_node();
  const auto moved = [&](int rank, std::size_t by) {
    return nodes[(at(member_.group->node_of(rank)) + by) % nodes.size()][at(member_.group->local_rank(rank))];
  };
  const Load its = load(flow, rounds);
  if (!member_.simulation.platform().between_nodes(its.from, its.to)) return;
  const double latency = member_.simulation.platform().latency(its.from, its.to);
  for (std::size_t by = 1; by < nodes.size(); ++by) {
    const StandIn other{moved(flow.from, by), moved(flow.to, by), flow.bytes, flow.together};
    member_.simulation.network().admit_between_nodes(load(other, rounds), latency);
  }
}

void StandIns::carry(const std::vector<StandIn>& flows, int rounds) const {
  double latest = member_.simulation.now();
  flow(flows, rounds, member_.group->symmetry() == Symmetry::nodes,
       [&](const StandIn&, double end) { latest = std::max(latest, end); });
  if (latest > member_.simulation.now()) simgrid::s4u::this_actor::sleep_until(latest);
}

// A flow ends when links alone would be done with all bytes. Connections take their own time for them, and the host
// delays each round by a message, or the last of the messages of one round by all others.
double StandIns::end_of(const Load& load, const Flow& flow, double begin) const {
  const Platform& platform = member_.simulation.platform();
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
  const double bytes = static_cast<double>(load.bytes) / (load.rounds * load.together);
  return end + platform.later_rounds(load.from, load.to, bytes, load.rounds);
}

std::vector<StandIn> StandIns::ring_of_first_node(std::int64_t bytes) const {
  if (member_.group->symmetry() == Symmetry::node) return {{0, 1, bytes}};
  std::vector<StandIn> flows;
  for (const int sender : member_.group->by_node().front())
    flows.push_back({sender, (sender + 1) % member_.size(), bytes});
  return flows;
}

std::vector<StandIn> StandIns::all_to_all_of_first_node() const {
  const int of_node = static_cast<int>(member_.group->by_node().front().size());
  std::vector<StandIn> flows;
  for (const int sender : member_.group->by_node().front()) {
    if (of_node > 1) flows.push_back({sender, (sender + 1) % of_node, bytes_between(sender, Reach::own_node)});
    if (of_node < member_.size())
      flows.push_back({sender, sender + of_node, bytes_between(sender, Reach::other_nodes), member_.size() - of_node});
  }
  return flows;
}

std::int64_t StandIns::bytes_between(int sender, Reach reach) const {
  const std::span<const Buffer> parts = member_.group->meeting().send[at(sender)];
  std::int64_t own = 0, all = 0;
  for (const int peer : member_.group->by_node()[at(member_.group->node_of(sender))])
    own += parts[at(peer)].modelled_bytes();
  if (reach == Reach::own_node) return own - parts[at(sender)].modelled_bytes();
  for (const Buffer& part : parts) all += part.modelled_bytes();
  return all - own;
}

}  // namespace trigram::sim
