// One round: everybody sends the whole vector to everybody, and adds in the order of ranks; for very short vectors.
// Change: how it goes, its rounds and bytes, its paper.
#include <vector>

#include "core/collectives/reduction.hpp"
#include "core/lane/all_reduce.hpp"

namespace trigram {
namespace {

class OneRound final : public AllReduce {
 public:
  // Change: x = op over the ranks, the same bits on each, for any size of the group and any count.
  void run(Communicator& comm, Buffer x, ReduceOp op) const override {
    if (comm.size() == 1) return;
    Shape all = x.shape();
    all.count *= comm.size();
    all.modelled_count *= comm.size();
    const Buffer received = comm.scratch(all);
    const auto from = [&](int rank) { return received.slice(rank * x.count(), x.count(), x.modelled_count()); };
    std::vector<Transfer> transfers;
    for (int peer = 0; peer < comm.size(); ++peer) {
      if (peer == comm.rank()) continue;
      transfers.push_back(Transfer::send_to(peer, x));
      transfers.push_back(Transfer::receive_from(peer, from(peer)));
    }
    comm.exchange(transfers);
    copy_own(comm, x, from(comm.rank()));
    copy_own(comm, from(0), x);
    for (int rank = 1; rank < comm.size(); ++rank) combine(comm, op, from(rank), x);
    finish_mean(comm, op, x);
  }

  // Change: calls of exchange, and bytes that `rank` sends.
  Cost cost(int ranks, int, std::int64_t count, std::int64_t element_bytes) const override {
    if (ranks == 1) return {};
    return {1, (ranks - 1) * count * element_bytes};
  }
};

// Change: what `trigram list` says, and the paper as a second text.
const AllReduces::Registration registration("one_round", {"whole vectors to everybody: 1 round, most bytes"},
                                            [](Params&) { return std::make_unique<OneRound>(); });

}  // namespace
}  // namespace trigram
