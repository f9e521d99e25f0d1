// Rings whose chunks flow: the messages, bytes and bits of the ring, without waiting for rounds.
#pragma once

#include <vector>

#include "core/lane/all_reduce.hpp"

namespace trigram {

/// What rings of all ranks have in common. Where a backend does not pipeline by itself, rounds wait for each other as
/// those of `ring` do.
class PipelinedRing : public AllReduce {
 public:
  void run(Communicator& comm, Buffer x, ReduceOp op) const override;
  Cost cost(int ranks, int rank, std::int64_t count, std::int64_t element_bytes) const override;
  bool pipelined() const override { return true; }
  std::vector<Buffer> reduce_in_memory(const Neighbourhood&, std::span<const Buffer> of_ranks,
                                       const Add& add) const override;
};

/// The ranks of each node that has any, in the order of nodes.
std::vector<std::vector<int>> ranks_by_node(std::span<const int> node_of);
/// All ranks, node after node, each from its rank of place `rail` on: so that no two rings leave a node by one NIC.
std::vector<int> order_of(const std::vector<std::vector<int>>& nodes, int rail);

/// One ring through all ranks in `order`, which carries `part` of a vector: adds its streams, and its latency where
/// that is longer. Twice around for an all-reduce, once for a reduce-scatter or an all-gather; `chain`: the whole
/// vector through all ranks but for the last edge, as a broadcast or a reduce.
enum class Laps : std::uint8_t { chain = 0, one = 1, two = 2 };
void add_ring(const std::vector<int>& order, Buffer part, Laps laps, const std::function<double(int, int)>& hop,
              Pipeline& to);

}  // namespace trigram
