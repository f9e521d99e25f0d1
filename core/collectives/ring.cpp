// Ring all-reduce (Patarasuk & Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", 2009):
// reduce-scatter, then all-gather, 2(n-1) rounds of one chunk each.
#include "core/lane/all_reduce.hpp"

namespace trigram {

namespace {

class Ring final : public AllReduce {
 public:
  void run(Communicator& comm, Buffer x, ReduceOp op) const override {
    comm.reduce_scatter(x, op);
    comm.all_gather(x);
  }

  Cost cost(int ranks, int rank, std::int64_t count, std::int64_t element_bytes) const override {
    return reduce_scatter_cost(ranks, rank, count, element_bytes) + all_gather_cost(ranks, rank, count, element_bytes);
  }

  bool is_ring() const override { return true; }
};

const AllReduces::Registration registration(
    "ring",
    {"reduce-scatter and all-gather around a ring: 2(n-1) rounds, fewest bytes",
     "Patarasuk & Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, JPDC 2009"},
    [](Params&) { return std::make_unique<Ring>(); });

}  // namespace

}  // namespace trigram
