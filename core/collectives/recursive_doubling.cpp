// Recursive doubling: whole vectors swapped with partners at distances 1, 2, 4, …; fewest rounds, for short vectors.
#include <bit>

#include "core/collectives/fold.hpp"
#include "core/collectives/reduction.hpp"
#include "core/lane/all_reduce.hpp"

namespace trigram {

namespace {

class RecursiveDoubling final : public AllReduce {
 public:
  // Partners add the same two values, and addition commutes, so that all ranks get the same bits.
  void run(Communicator& comm, Buffer x, ReduceOp op) const override {
    if (comm.size() == 1) return;
    const Fold fold(comm.size(), comm.rank());
    const Buffer incoming = comm.scratch(x.shape());
    fold.in(comm, x, op, incoming);
    if (fold.takes_part()) {
      for (int distance = 1; distance < fold.core_size(); distance *= 2) {
        const int partner = fold.rank_of(fold.core_rank() ^ distance);
        comm.exchange({Transfer::send_to(partner, x), Transfer::receive_from(partner, incoming)});
        combine(comm, op, incoming, x);
      }
      finish_mean(comm, op, x);
    }
    fold.out(comm, x);
  }

  // log₂ p rounds of M bytes, and the fold where n is no power of two
  Cost cost(int ranks, int rank, std::int64_t count, std::int64_t element_bytes) const override {
    const Fold fold(ranks, rank);
    const std::int64_t bytes = count * element_bytes;
    const std::int64_t rounds = fold.takes_part() ? std::countr_zero(static_cast<unsigned>(fold.core_size())) : 0;
    return fold.cost(bytes) + Cost{rounds, rounds * bytes};
  }
};

const AllReduces::Registration registration(
    "recursive_doubling",
    {"whole vectors swapped at distances 1, 2, 4, ...: log2(n) rounds, for short vectors",
     "Thakur, Rabenseifner & Gropp, Optimization of collective communication operations in MPICH, IJHPCA 2005"},
    [](Params&) { return std::make_unique<RecursiveDoubling>(); });

}  // namespace

}  // namespace trigram
