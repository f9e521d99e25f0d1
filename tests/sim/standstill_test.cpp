// What a deadlock is and what only takes long, and messages that meet others than they were meant for.
#include <gmock/gmock.h>

#include "core/primitives/centralized.hpp"
#include "core/step/bucketwise.hpp"
#include "core/training/training.hpp"
#include "tests/sim/rig.hpp"

namespace trigram::testing::standstill_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Two nodes behind 1 kbps.
std::string crawling(const std::string& more = "") {
  return "sim:nodes=2,gpus_per_node=1,nic_bandwidth=1kbps,nic_latency=5us" + more;
}
constexpr std::int64_t megabyte = 1'000'000;  ///< 8,000 s there

TEST(SlowRuns, AreNoDeadlocksHoweverLongAMessageTakes) {
  for (const char* fidelity : {",fidelity=exact", ",fidelity=fluid"}) {
    EXPECT_EQ(failure<Error>(crawling(fidelity), 2, shift_of(megabyte)), "");
    EXPECT_EQ(failure<Error>(crawling(fidelity), 2, all_reduce_of(10 * megabyte)), "");
  }
}

TEST(SlowRuns, EndAtTheTimeoutThatTheirClusterNames) {
  EXPECT_THAT(failure<BackendError>(crawling(",timeout=3600s"), 2, shift_of(megabyte)),
              AllOf(HasSubstr("timeout at 3600"), HasSubstr("cluster.timeout is 3600 s"), HasSubstr("timeout=0s"),
                    HasSubstr("a send of 1000000 bytes to rank 1"), Not(HasSubstr("deadlock"))));
}

/// Rank 0 waits for what rank 1 never sends.
void wait_in_vain(RankRuntime& runtime) {
  Communicator& comm = *runtime.lane(0).comm;
  if (comm.rank() == 0) comm.exchange({Transfer::receive_from(1, phantom(4))});
}

TEST(Deadlocks, AreFoundBesideWhateverElseMovesTheClock) {
  for (const char* beside : {",background=0>1", ",timeout=1e9s", ",changes=(1e7s/nic_bandwidth/0/1Gbps)"}) {
    EXPECT_THAT(failure<BackendError>(crawling(beside), 2, wait_in_vain),
                AllOf(HasSubstr("deadlock at 0 s (simulated): no rank can move"),
                      HasSubstr("\n  rank 0, main lane, all ranks: exchange waits since 0 s for a receive of 4 bytes "
                                "from rank 1"),
                      HasSubstr("\n  at their end already: rank 1")))
        << beside;
  }
}

TEST(Deadlocks, AreNoneWhileARankComputes) {
  const auto late = [](RankRuntime& runtime) {
    if (runtime.lane(0).comm->rank() == 1) runtime.lane(0).device->charge_seconds(1e7);
    runtime.lane(0).comm->barrier();
  };
  EXPECT_EQ(failure<Error>(crawling(), 2, late), "");
  EXPECT_EQ(failure<Error>(crawling(",fidelity=fluid"), 2, late), "");
}

constexpr std::int64_t left_out = 3;

/// Averages gradients; rank 2 leaves out the exchanges of one step.
class LeavesAStepOut final : public GradientMethod {
 public:
  Trigram trigram() const override {
    return {Trigram::Synchrony::synchronous, Trigram::Precision::full, Trigram::Centrality::centralized};
  }
  Cost cost(const CostQuery&) const override { return {}; }

 private:
  void exchange(Worker& lane, Bucket& bucket) override {
    if (lane.rank() == 2 && lane.step == left_out) return;
    centralized_full_precision(lane, bucket.gradients);
  }
};

const Algorithms::Registration registration("leaves_a_step_out", {"for a test"},
                                            [](Params&) { return std::make_unique<LeavesAStepOut>(); });

std::string failure_of_training(const std::string& backend, std::int64_t steps, bool overlap) {
  World world;
  world.ranks = 4;
  TrainingOptions options;
  options.algorithm = "leaves_a_step_out";
  options.workload = "known_gradients";
  options.steps = steps;
  options.relaxation.overlap = overlap;
  try {
    run_training(*Backends::make(backend), world, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(ExchangesLeftOut, EndTheRunWithStepAndRankOfBothSides) {
  for (const char* fidelity : {"fidelity=exact", "fidelity=fluid"}) {
    for (const bool overlap : {true, false}) {
      EXPECT_THAT(failure_of_training(flat(4, fidelity), 50, overlap),
                  AllOf(HasSubstr("messages have met that were not meant for each other, in all ranks: that of rank "),
                        HasSubstr("rank 2, step 4, lane 1 (buckets 0, 1, ...), all_reduce of bucket 0"),
                        HasSubstr(", step 3, lane 1 (buckets 0, 1, ...), all_reduce of bucket 0"),
                        HasSubstr("rank 2 has left out an exchange, or rank ")))
          << fidelity << (overlap ? " with overlap" : "");
    }
  }
}

TEST(ExchangesLeftOut, InTheLastStepAreADeadlockThatNamesIt) {
  for (const char* fidelity : {"fidelity=exact", "fidelity=fluid"}) {
    EXPECT_THAT(failure_of_training(flat(4, fidelity), left_out + 1, true),
                AllOf(HasSubstr("deadlock at "), HasSubstr("rank 0, step 3, lane 1 (buckets 0, 1, ...), all ranks: "),
                      HasSubstr("all_reduce of bucket 0"), HasSubstr("\n  at their end already: rank 2")));
  }
}

TEST(ExchangesLeftOut, AreNamedByBodiesWithinAStep) {
  const auto one_fewer = [](RankRuntime& runtime) {
    const int rank = runtime.lane(0).comm->rank();
    for (const int bucket : {0, 1}) {
      const auto body = [&runtime, bucket, rank] {
        const Timeline::ForBucket of_this_one(runtime.lane(1).timeline, bucket);
        if (rank != 1 || bucket != 0) runtime.lane(1).comm->all_reduce(phantom(400), ReduceOp::sum);
      };
      runtime.launch(1, body).wait();
    }
  };
  EXPECT_THAT(failure<Error>(flat(2), 2, one_fewer),
              AllOf(HasSubstr("rank 0, lane 1 (buckets 0, 1, ...), all_reduce of bucket 0"),
                    HasSubstr("rank 1, lane 1 (buckets 0, 1, ...), all_reduce of bucket 1")));
}

}  // namespace
}  // namespace trigram::testing::standstill_test
