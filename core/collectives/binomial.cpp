// Binomial all-reduce: a tree reduces to rank 0 and the same tree broadcasts; 2 ⌈log2(n)⌉ rounds of whole vectors.
#include "core/lane/all_reduce.hpp"

namespace trigram {

namespace {

class Binomial final : public AllReduce {
 public:
  void run(Communicator& comm, Buffer x, ReduceOp op) const override {
    comm.reduce(x, op, 0);
    comm.broadcast(x, 0);
  }

  Cost cost(int ranks, int rank, std::int64_t count, std::int64_t element_bytes) const override {
    const std::int64_t bytes = count * element_bytes;
    return reduce_cost(ranks, rank, bytes, 0) + broadcast_cost(ranks, rank, bytes, 0);
  }
};

const AllReduces::Registration registration(
    "binomial",
    {"a binomial tree reduces to rank 0 and broadcasts: 2 ceil(log2(n)) rounds of whole vectors",
     "Thakur, Rabenseifner & Gropp, Optimization of collective communication operations in MPICH, IJHPCA 2005"},
    [](Params&) { return std::make_unique<Binomial>(); });

}  // namespace

}  // namespace trigram
