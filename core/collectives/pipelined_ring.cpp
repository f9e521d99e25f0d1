// The ring as NCCL runs it: a chunk is sent on when it is there, so that the latencies of a ring add up once along its
// edges instead of the slowest in every round, and hide behind bytes where those take longer.
#include "core/collectives/pipelined_ring.hpp"

#include <algorithm>
#include <numeric>

namespace trigram {

void PipelinedRing::run(Communicator& comm, Buffer x, ReduceOp op) const {
  comm.reduce_scatter(x, op);
  comm.all_gather(x);
}

Cost PipelinedRing::cost(int ranks, int rank, std::int64_t count, std::int64_t element_bytes) const {
  return reduce_scatter_cost(ranks, rank, count, element_bytes) + all_gather_cost(ranks, rank, count, element_bytes);
}

// Chunk i = x_{i+1} + x_{i+2} + … + x_i, held by the rank that adds last.
std::vector<Buffer> PipelinedRing::reduce_in_memory(const Neighbourhood& /*where*/, std::span<const Buffer> of_ranks,
                                                    const Add& add) const {
  const int n = static_cast<int>(of_ranks.size());
  const auto chunk_of = [&](int rank, int chunk) {
    return of_ranks[static_cast<std::size_t>(rank % n)].chunk(chunk, n);
  };
  std::vector<Buffer> sums;
  for (int chunk = 0; chunk < n; ++chunk) {
    for (int step = 2; step <= n; ++step) add(chunk_of(chunk + step - 1, chunk), chunk_of(chunk + step, chunk));
    sums.push_back(chunk_of(chunk, chunk));
  }
  return sums;
}

std::vector<std::vector<int>> ranks_by_node(std::span<const int> node_of) {
  std::vector<std::vector<int>> nodes;
  for (std::size_t rank = 0; rank < node_of.size(); ++rank) {
    const auto node = static_cast<std::size_t>(node_of[rank]);
    if (nodes.size() <= node) nodes.resize(node + 1);
    nodes[node].push_back(static_cast<int>(rank));
  }
  std::erase_if(nodes, [](const std::vector<int>& node) { return node.empty(); });
  return nodes;
}

std::vector<int> order_of(const std::vector<std::vector<int>>& nodes, int rail) {
  std::vector<int> order;
  for (const std::vector<int>& node : nodes) {
    for (std::size_t i = 0; i < node.size(); ++i)
      order.push_back(node[(static_cast<std::size_t>(rail) + i) % node.size()]);
  }
  return order;
}

// A chunk goes through n−1 edges a lap: in two laps all edges twice but for two that meet, in one all but one.
void add_ring(const std::vector<int>& order, Buffer part, Laps laps, const std::function<double(int, int)>& hop,
              Pipeline& to) {
  const int n = static_cast<int>(order.size()), around = static_cast<int>(laps);
  const auto place = [&](int i) { return static_cast<std::size_t>(i % n); };
  std::vector<double> edges;
  for (int i = 0; i < n; ++i) {
    std::int64_t bytes = part.modelled_bytes() - part.chunk(i, n).modelled_bytes();
    if (laps == Laps::two) bytes += part.modelled_bytes() - part.chunk((i + 1) % n, n).modelled_bytes();
    to.streams.push_back({order[place(i)], order[place(i + 1)], bytes, around * (n - 1)});
    edges.push_back(hop(order[place(i)], order[place(i + 1)]));
  }
  const auto left_out = [&](int i) { return edges[place(i)] + (laps == Laps::two ? edges[place(i + 1)] : 0); };
  double least = left_out(0);
  for (int i = 1; i < n; ++i) least = std::min(least, left_out(i));
  to.alike = true;
  to.latency = std::max(to.latency, around * std::accumulate(edges.begin(), edges.end(), 0.0) - least);
  to.hop = std::max(to.hop, *std::max_element(edges.begin(), edges.end()));
  to.rounds = around * (n - 1);
}

namespace {

class SinglePipelinedRing final : public PipelinedRing {
 public:
  Pipeline pipeline(const Neighbourhood& where, Buffer x) const override {
    std::vector<int> order(where.node_of.size());
    std::iota(order.begin(), order.end(), 0);
    Pipeline all;
    add_ring(order, x, Laps::two, where.hop, all);
    return all;
  }
};

const AllReduces::Registration pipelined_ring(
    "pipelined_ring",
    {"the ring, whose chunks flow on as they come: latencies of its edges and its bytes hide one another, as in NCCL",
     "Patarasuk & Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, JPDC 2009"},
    [](Params&) { return std::make_unique<SinglePipelinedRing>(); });

}  // namespace

}  // namespace trigram
