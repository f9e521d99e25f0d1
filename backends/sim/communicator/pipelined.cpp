// Collectives whose chunks flow: their streams are flows side by side, at either fidelity, and the way of the chunk
// that goes farthest is paid once, or hides behind them.
#include <algorithm>
#include <array>
#include <cmath>

#include "backends/sim/communicator/communicator.hpp"
#include "backends/sim/communicator/parts.hpp"
#include "backends/sim/engine/blocking.hpp"
#include "core/collectives/reduction.hpp"
#include "core/lane/all_reduce.hpp"

namespace trigram::sim {

// Where nodes are alike, so are all ways inside them, and all between them.
template <class Use>
auto SimCommunicator::in_neighbourhood(const Use& use) const {
  std::vector<int> node_of(at(size()));
  for (int rank = 0; rank < size(); ++rank) node_of[at(rank)] = group_->node_of(rank);
  const Platform& platform = simulation_.platform();
  const auto seconds = [&](int from, int to) {
    const int a = group_->member(from), b = group_->member(to);
    return platform.latency(a, b) + platform.message_overhead(a, b);
  };
  std::array<double, 2> known{-1, -1};
  const auto hop = [&](int from, int to) {
    if (group_->symmetry() == Symmetry::none) return seconds(from, to);
    double& one = known[node_of[at(from)] == node_of[at(to)] ? 0 : 1];
    if (one < 0) one = seconds(from, to);
    return one;
  };
  const bool nic_per_rank = simulation_.cluster().nic_per_gpu || simulation_.cluster().ranks_per_node == 1;
  return use(Neighbourhood{node_of, nic_per_rank, hop});
}

void SimCommunicator::all_reduce_pipelined(Buffer x, ReduceOp op) {
  const AllReduce& how = all_reduce_algorithm();
  enter(x);
  const Call call(*this, "all_reduce");
  blocking([&] {
    group_->meet(rank_, [&] {
      check_same_sizes();
      add_in_memory(how, op);
      note_choice(how, Collective::all_reduce, x);
      carry(in_neighbourhood([&](const Neighbourhood& where) { return how.pipeline(where, x); }));
    });
  });
}

std::optional<std::int64_t> SimCommunicator::sent_to_other_nodes() const {
  if (!all_reduce_algorithm().pipelined()) return std::nullopt;
  return group_->meeting().sent_to_other_nodes[at(rank_)];
}

bool SimCommunicator::chosen(Collective collective) const {
  return size() > 1 && all_reduce_algorithm().chooses(collective);
}

void SimCommunicator::flow_as_chosen(Collective collective, Buffer x, int root, const std::function<void()>& move) {
  enter(x);
  const AllReduce& how = all_reduce_algorithm();
  const Call call(*this, name_of(collective));
  blocking([&] {
    group_->meet(rank_, [&] {
      check_same_sizes();
      move();
      note_choice(how, collective, x);
      carry(in_neighbourhood([&](const Neighbourhood& where) { return how.pipeline_of(collective, where, x, root); }));
    });
  });
}

void SimCommunicator::note_choice(const AllReduce& how, Collective collective, Buffer x) const {
  if (how.library().empty()) return;
  const int nodes = static_cast<int>(group_->by_node().size());
  const std::int64_t bytes = x.modelled_bytes();
  simulation_.note_choice({collective, size(), nodes, bytes},
                          [&] { return how.choice(collective, size(), nodes, bytes); });
}

Placement SimCommunicator::place() const {
  const std::vector<std::vector<int>>& nodes = group_->by_node();
  const int node = group_->node_of(rank_);
  return {rank_,
          size(),
          node,
          static_cast<int>(nodes.size()),
          group_->local_rank(rank_),
          static_cast<int>(nodes[at(node)].size())};
}

void SimCommunicator::add_in_memory(const AllReduce& how, ReduceOp op) {
  const std::vector<Buffer>& all = group_->meeting().buffers;
  if (all.front().is_phantom() || all.front().count() == 0) return;
  const ReduceOp sum_or_op = op == ReduceOp::mean ? ReduceOp::sum : op;
  const std::vector<Buffer> parts = in_neighbourhood([&](const Neighbourhood& where) {
    return how.reduce_in_memory(where, all, [&](Buffer from, Buffer to) {
      if (to.count() > 0) device_.kernels().reduce(sum_or_op, from, to);
    });
  });
  std::int64_t place = 0;
  for (const Buffer& part : parts) {
    finish_mean(*this, op, part);
    for (const Buffer& one : all) copy_bytes(part, one.slice(place, part.count()));
    place += part.count();
  }
}

// With fluid, whether a stream is among those that take as long as all do.
bool SimCommunicator::stands_for_all(const Pipeline& pipeline, const Pipeline::Stream& stream) const {
  if (!fluid_ || group_->symmetry() != Symmetry::nodes) return true;
  const int from = group_->node_of(stream.from), to = group_->node_of(stream.to);
  if (pipeline.busiest >= 0) return from == pipeline.busiest || to == pipeline.busiest;
  return !pipeline.alike || from == 0;
}

// Of the last byte, where all streams flow for `bytes` seconds.
double SimCommunicator::arrival(const Pipeline& pipeline, double bytes) {
  if (pipeline.rounds == 0) return bytes + pipeline.latency;
  const double slice = 1 / pipeline.slices;
  return std::max(bytes + pipeline.hop, pipeline.latency + bytes * (slice + (1 - slice) / pipeline.rounds));
}

// A stream's own latency is on the longest way already. A host that posts all its chunks may take longer than the bytes
// and that way.
void SimCommunicator::carry(const Pipeline& pipeline) {
  const Platform& platform = simulation_.platform();
  std::vector<StandIn> flows;
  std::vector<double> host(at(size()));
  std::vector<std::int64_t>& leaving = group_->meeting().sent_to_other_nodes;
  leaving.assign(at(size()), 0);
  for (const Pipeline::Stream& stream : pipeline.streams) {
    const int from = group_->member(stream.from), to = group_->member(stream.to);
    simulation_.count(from, to, stream.bytes);
    if (group_->node_of(stream.from) != group_->node_of(stream.to)) leaving[at(stream.from)] += stream.bytes;
    host[at(stream.from)] += stream.messages * platform.message_overhead(from, to);
    if (stream.bytes == 0 || !stands_for_all(pipeline, stream)) continue;
    flows.push_back({stream.from, stream.to, std::llround(static_cast<double>(stream.bytes) * stream.wire)});
  }
  const double begin = simulation_.now();
  double end = begin;
  flow(flows, 1, [&](const StandIn& one, double its) {
    const int from = group_->member(one.from), to = group_->member(one.to);
    end = std::max(end, its - platform.latency(from, to) - platform.message_overhead(from, to));
  });
  const double bytes = std::max(end - begin, pipeline.least);
  end = begin + pipeline.before + std::max(arrival(pipeline, bytes), *std::max_element(host.begin(), host.end()));
  if (end > simulation_.now()) simgrid::s4u::this_actor::sleep_until(end);
}

}  // namespace trigram::sim
