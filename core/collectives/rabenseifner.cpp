// Rabenseifner's all-reduce: reduce-scatter by recursive halving, all-gather by recursive doubling; the ring's bytes in
// 2 log2(n) rounds.
#include <vector>

#include "core/collectives/fold.hpp"
#include "core/collectives/reduction.hpp"
#include "core/lane/all_reduce.hpp"

namespace trigram {

namespace {

/// Chunks [begin, end) of a vector that is cut into as many as ranks take part.
struct Parts {
  int begin;
  int end;

  std::int64_t count(std::int64_t total, int parts) const {
    return chunk_begin(total, parts, end) - chunk_begin(total, parts, begin);
  }

  Buffer of(Buffer x, int parts) const {
    return x.slice(chunk_begin(x.count(), parts, begin), count(x.count(), parts), count(x.modelled_count(), parts));
  }
};

/// One round of halving: what a rank held is cut in two; it keeps one half and sends the other. The all-gather goes
/// through the same rounds backwards and sends what was kept.
struct Halving {
  int partner;  ///< place among those that take part
  Parts kept;
  Parts sent;
};

std::vector<Halving> halvings(const Fold& fold) {
  std::vector<Halving> rounds;
  Parts held{0, fold.core_size()};
  while (held.end - held.begin > 1) {
    const int half = (held.end - held.begin) / 2;
    const Parts lower{held.begin, held.begin + half};
    const Parts upper{held.begin + half, held.end};
    const bool low = fold.core_rank() < upper.begin;
    rounds.push_back({fold.core_rank() ^ half, low ? lower : upper, low ? upper : lower});
    held = rounds.back().kept;
  }
  return rounds;
}

class Rabenseifner final : public AllReduce {
 public:
  void run(Communicator& comm, Buffer x, ReduceOp op) const override {
    if (comm.size() == 1) return;
    const Fold fold(comm.size(), comm.rank());
    const Buffer memory = comm.scratch(x.shape());
    fold.in(comm, x, op, memory);
    if (fold.takes_part()) reduce_and_gather(comm, fold, x, op, memory);
    fold.out(comm, x);
  }

  // 2 log₂ p rounds, 2(p−1)/p M bytes, and the fold where n is no power of two
  Cost cost(int ranks, int rank, std::int64_t count, std::int64_t element_bytes) const override {
    const Fold fold(ranks, rank);
    Cost cost = fold.cost(count * element_bytes);
    if (!fold.takes_part()) return cost;
    for (const Halving& round : halvings(fold)) {
      const std::int64_t elements =
          round.sent.count(count, fold.core_size()) + round.kept.count(count, fold.core_size());
      cost += Cost{2, elements * element_bytes};
    }
    return cost;
  }

 private:
  static void reduce_and_gather(Communicator& comm, const Fold& fold, Buffer x, ReduceOp op, Buffer memory) {
    const int parts = fold.core_size();
    const std::vector<Halving> rounds = halvings(fold);
    for (const Halving& round : rounds) {
      const int partner = fold.rank_of(round.partner);
      const Buffer kept = round.kept.of(x, parts);
      const Buffer incoming = shaped_like(memory, kept);
      comm.exchange({Transfer::send_to(partner, round.sent.of(x, parts)), Transfer::receive_from(partner, incoming)});
      combine(comm, op, incoming, kept);
    }
    finish_mean(comm, op, Parts{fold.core_rank(), fold.core_rank() + 1}.of(x, parts));
    for (auto round = rounds.rbegin(); round != rounds.rend(); ++round) {
      const int partner = fold.rank_of(round->partner);
      comm.exchange({Transfer::send_to(partner, round->kept.of(x, parts)),
                     Transfer::receive_from(partner, round->sent.of(x, parts))});
    }
  }
};

const AllReduces::Registration registration(
    "rabenseifner",
    {"recursive halving, then recursive doubling: 2 log2(n) rounds, the ring's bytes",
     "Rabenseifner, Optimization of collective reduction operations, ICCS 2004"},
    [](Params&) { return std::make_unique<Rabenseifner>(); });

}  // namespace

}  // namespace trigram
