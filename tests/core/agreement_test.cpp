// Agreements on every backend: what ranks agree on, when they know it, and how it ends.
#include "core/primitives/agreement.hpp"

#include "core/values/error.hpp"
#include "tests/core/conformance.hpp"

namespace trigram::testing::agreement_test {
namespace {

class Agreements : public OnEveryPlace {};
INSTANTIATE_TEST_SUITE_P(Everywhere, Agreements, every_place(), place_name);

using Longs = std::vector<std::int64_t>;
constexpr int steps = 6;

std::int32_t number_of(std::int64_t step, int rank) { return static_cast<std::int32_t>((step * 7 + rank * 5) % 11); }

/// Started in each even step, read in the next one, while the lane of a bucket communicates.
Longs outcomes(RankRuntime& runtime, ReduceOp op, bool overlap) {
  Worker worker(runtime, 0, {.overlap = overlap});
  Agreement agreement(op);
  agreement.setup(worker);
  const OwnedBuffer x = worker.device.allocate(Shape::of(8, DType::f32));
  Longs seen;
  for (worker.step = 0; worker.step < steps; ++worker.step) {
    if (worker.step % 2 == 0) agreement.start(worker, number_of(worker.step, worker.rank()));
    worker.start(1, [&](Worker& lane) { lane.comm.all_reduce(x, ReduceOp::sum); }).wait();
    if (worker.step % 2 == 1) seen.push_back(agreement.outcome(worker));
  }
  const Cost cost = runtime.lane(worker.background_lane()).meter.total();
  seen.insert(seen.end(), {cost.rounds, cost.bytes});
  return seen;
}

Longs expected(int ranks, int rank, ReduceOp op) {
  Longs all;
  for (std::int64_t step = 0; step < steps; step += 2) {
    std::int64_t number = number_of(step, 0);
    for (int other = 1; other < ranks; ++other) {
      const std::int64_t theirs = number_of(step, other);
      number = op == ReduceOp::sum   ? number + theirs
               : op == ReduceOp::min ? std::min(number, theirs)
                                     : std::max(number, theirs);
    }
    all.push_back(number);
  }
  CostQuery query;
  query.place = placement(std::vector<int>(static_cast<std::size_t>(ranks)), rank);
  const Cost one = agreement_cost(query);
  all.insert(all.end(), {steps / 2 * one.rounds, steps / 2 * one.bytes});
  return all;
}

TEST_P(Agreements, AreTheSameForAllRanksAtTheSameStep) {
  for (const ReduceOp op : {ReduceOp::sum, ReduceOp::min, ReduceOp::max}) {
    for (const bool overlap : {true, false}) {
      const auto results = run<std::int64_t>([&](RankRuntime& runtime) { return outcomes(runtime, op, overlap); });
      for (int rank = 0; rank < ranks(); ++rank)
        EXPECT_EQ(results[static_cast<std::size_t>(rank)], expected(ranks(), rank, op)) << "rank " << rank;
    }
  }
}

TEST_P(Agreements, RefuseASecondOneBesideTheFirst) {
  const auto results = run<std::int64_t>([](RankRuntime& runtime) {
    Worker worker(runtime, 0, {});
    Agreement agreement(ReduceOp::max);
    agreement.setup(worker);
    agreement.start(worker, 3);
    std::int64_t refused = 0;
    try {
      agreement.start(worker, 4);
    } catch (const Error&) {
      refused = 1;
    }
    return Longs{refused, agreement.outcome(worker)};
  });
  for (const Longs& result : results) EXPECT_EQ(result, (Longs{1, 3}));
  EXPECT_THROW(Agreement(ReduceOp::mean), Error);
}

TEST_P(Agreements, AnErrorNextToABlockedLaneEndsTheRun) {
  if (ranks() == 1) GTEST_SKIP() << "nobody else can fail";
  const auto body = [](RankRuntime& runtime) {
    Worker worker(runtime, 0, {});
    Agreement agreement(ReduceOp::max);
    agreement.setup(worker);
    if (worker.rank() == 1) throw UsageError("rank 1 gives up");
    agreement.start(worker, 1);
    return Longs{agreement.outcome(worker)};
  };
  EXPECT_THROW(run<std::int64_t>(body), Error);
}

}  // namespace
}  // namespace trigram::testing::agreement_test
