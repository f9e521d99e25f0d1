#include "backends/sim/communicator/pipelined.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "backends/sim/communicator/in_memory.hpp"
#include "backends/sim/engine/blocking.hpp"
#include "core/collectives/reduction.hpp"

namespace trigram::sim {
namespace {

// Of the last byte, where all streams flow for `bytes` seconds.
double arrival(const Pipeline& pipeline, double bytes) {
  if (pipeline.rounds == 0) return bytes + pipeline.latency;
  const double slice = 1 / pipeline.slices;
  return std::max(bytes + pipeline.hop, pipeline.latency + bytes * (slice + (1 - slice) / pipeline.rounds));
}

}  // namespace

// Where nodes are alike, so are all ways inside them, and all between them.
template <class Use>
auto PipelinedCollectives::in_neighbourhood(const Use& use) const {
  std::vector<int> node_of(at(member_.size()));
  for (int rank = 0; rank < member_.size(); ++rank) node_of[at(rank)] = member_.group->node_of(rank);
  const Platform& platform = member_.simulation.platform();
  const auto seconds = [&](int from, int to) {
    const int a = member_.group->member(from), b = member_.group->member(to);
    return platform.latency(a, b) + platform.message_overhead(a, b);
  };
  std::array<double, 2> known{-1, -1};
  const auto hop = [&](int from, int to) {
    if (member_.group->symmetry() == Symmetry::none) return seconds(from, to);
    double& one = known[node_of[at(from)] == node_of[at(to)] ? 0 : 1];
    if (one < 0) one = seconds(from, to);
    return one;
  };
  const bool nic_per_rank =
      member_.simulation.cluster().nic_per_gpu || member_.simulation.cluster().ranks_per_node == 1;
  return use(Neighbourhood{node_of, nic_per_rank, hop});
}

void PipelinedCollectives::perform(const CollectiveCall& call, Communicator& comm) const {
  require_root(call, member_.size());
  member_.enter(call.x);
  const AllReduce& how = comm.all_reduce_algorithm();
  const Call here(member_, name_of(call.collective));
  blocking([&] {
    member_.group->meet(member_.rank, [&] {
      require_same_sizes(*member_.group);
      if (call.collective == Collective::all_reduce) {
        add_in_memory(how, call.op, comm);
      } else {
        perform_in_memory(comm, call, member_.brought());
      }
      note_choice(how, call);
      carry(pipeline_of(call, how));
    });
  });
}

Pipeline PipelinedCollectives::pipeline_of(const CollectiveCall& call, const AllReduce& how) const {
  return in_neighbourhood([&](const Neighbourhood& where) {
    return call.collective == Collective::all_reduce ? how.pipeline(where, call.x)
                                                     : how.pipeline_of(call.collective, where, call.x, call.root);
  });
}

void PipelinedCollectives::note_choice(const AllReduce& how, const CollectiveCall& call) const {
  if (how.library().empty()) return;
  const int ranks = member_.size(), nodes = static_cast<int>(member_.group->by_node().size());
  const std::int64_t bytes = call.x.modelled_bytes();
  member_.simulation.traffic().note_choice({call.collective, ranks, nodes, bytes},
                                           [&] { return how.choice(call.collective, ranks, nodes, bytes); });
}

void PipelinedCollectives::add_in_memory(const AllReduce& how, ReduceOp op, Communicator& comm) const {
  const std::vector<Buffer>& all = member_.brought();
  if (all.front().is_phantom() || all.front().count() == 0) return;
  const ReduceOp sum_or_op = op == ReduceOp::mean ? ReduceOp::sum : op;
  const std::vector<Buffer> parts = in_neighbourhood([&](const Neighbourhood& where) {
    return how.reduce_in_memory(where, all, [&](Buffer from, Buffer to) {
      if (to.count() > 0) comm.device().kernels().reduce(sum_or_op, from, to);
    });
  });
  std::int64_t place = 0;
  for (const Buffer& part : parts) {
    finish_mean(comm, op, part);
    for (const Buffer& one : all) copy_bytes(part, one.slice(place, part.count()));
    place += part.count();
  }
}

// With fluid, whether a stream is among those that take as long as all do.
bool PipelinedCollectives::stands_for_all(const Pipeline& pipeline, const Pipeline::Stream& stream) const {
  if (!fluid_ || member_.group->symmetry() != Symmetry::nodes) return true;
  const int from = member_.group->node_of(stream.from), to = member_.group->node_of(stream.to);
  if (pipeline.busiest >= 0) return from == pipeline.busiest || to == pipeline.busiest;
  return !pipeline.alike || from == 0;
}

// A stream's own latency is on the longest way already. A host that posts all its chunks may take longer than the bytes
// and that way.
void PipelinedCollectives::carry(const Pipeline& pipeline) const {
  const Platform& platform = member_.simulation.platform();
  std::vector<StandIn> flows;
  std::vector<double> host(at(member_.size()));
  std::vector<std::int64_t>& leaving = member_.group->meeting().sent_to_other_nodes;
  leaving.assign(at(member_.size()), 0);
  for (const Pipeline::Stream& stream : pipeline.streams) {
    const int from = member_.group->member(stream.from), to = member_.group->member(stream.to);
    member_.simulation.traffic().count(from, to, stream.bytes);
    if (member_.group->node_of(stream.from) != member_.group->node_of(stream.to))
      leaving[at(stream.from)] += stream.bytes;
    host[at(stream.from)] += stream.messages * platform.message_overhead(from, to);
    if (stream.bytes == 0 || !stands_for_all(pipeline, stream)) continue;
    flows.push_back({stream.from, stream.to, std::llround(static_cast<double>(stream.bytes) * stream.wire)});
  }
  const double begin = member_.simulation.now();
  double end = begin;
  const bool for_others =
      fluid_ && member_.group->symmetry() == Symmetry::nodes && pipeline.busiest < 0 && pipeline.alike;
  stand_ins_.flow(flows, 1, for_others, [&](const StandIn& one, double its) {
    const int from = member_.group->member(one.from), to = member_.group->member(one.to);
    end = std::max(end, its - platform.latency(from, to) - platform.message_overhead(from, to));
  });
  const double bytes = std::max(end - begin, pipeline.least);
  end = begin + pipeline.before + std::max(arrival(pipeline, bytes), *std::max_element(host.begin(), host.end()));
  if (end > member_.simulation.now()) simgrid::s4u::this_actor::sleep_until(end);
}

}  // namespace trigram::sim
