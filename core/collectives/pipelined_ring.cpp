// The ring as NCCL runs it: a chunk is sent on when it is there, so that the latencies of a ring add up once along its
// edges instead of the slowest in every round.
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

// A chunk goes through 2(n−1) edges one after the other: twice around, but for the two before the one where it began.
void add_ring(const std::vector<int>& order, Buffer part, const std::function<double(int, int)>& hop, Pipeline& to) {
  const int n = static_cast<int>(order.size());
  const auto place = [&](int i) { return static_cast<std::size_t>(i % n); };
  std::vector<double> edges;
  for (int i = 0; i < n; ++i) {
    const std::int64_t left_out = part.chunk(i, n).modelled_bytes() + part.chunk((i + 1) % n, n).modelled_bytes();
    to.streams.push_back({order[place(i)], order[place(i + 1)], 2 * part.modelled_bytes() - left_out, 2 * (n - 1)});
    edges.push_back(hop(order[place(i)], order[place(i + 1)]));
  }
  double least_pair = edges[0] + edges[place(1)];
  for (int i = 1; i < n; ++i) least_pair = std::min(least_pair, edges[place(i)] + edges[place(i + 1)]);
  to.alike = true;
  to.latency = std::max(to.latency, 2 * std::accumulate(edges.begin(), edges.end(), 0.0) - least_pair);
}

namespace {

class SinglePipelinedRing final : public PipelinedRing {
 public:
  Pipeline pipeline(const Neighbourhood& where, Buffer x) const override {
    std::vector<int> order(where.node_of.size());
    std::iota(order.begin(), order.end(), 0);
    Pipeline all;
    add_ring(order, x, where.hop, all);
    return all;
  }
};

const AllReduces::Registration pipelined_ring(
    "pipelined_ring",
    {"the ring, whose chunks flow on as they come: its latency is the sum over the ring's edges, as in NCCL",
     "Patarasuk & Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, JPDC 2009"},
    [](Params&) { return std::make_unique<SinglePipelinedRing>(); });

}  // namespace

}  // namespace trigram
