// What a failed exchange leaves behind, what a killed rank still runs, and how waiting ends: with an error, never a
// hang.
#include <gmock/gmock.h>

#include <simgrid/s4u/Semaphore.hpp>

#include "tests/sim/rig.hpp"

namespace trigram::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// Rank 0 lets go of a body that still runs when rank 1 ends the run.
TEST(Kills, ReachARankInsideTheDestructorOfAPending) {
  const auto let_go = [](RankRuntime& runtime) {
    if (runtime.lane(0).comm->rank() == 1) {
      runtime.lane(0).device->charge_seconds(1e-3);
      throw Error("rank 1 stops");
    }
    {
      const Pending unseen = runtime.launch(1, [&] { runtime.lane(1).device->charge_seconds(1); });
    }
    runtime.lane(0).comm->barrier();
  };
  EXPECT_EQ(failure<Error>(flat(2), 2, let_go), "rank 1 stops");
}

TEST(Kills, ReachARankThatEndsAfterSuchADestructor) {
  const auto let_go = [](RankRuntime& runtime) {
    if (runtime.lane(0).comm->rank() == 1) {
      runtime.lane(0).device->charge_seconds(1e-3);
      throw Error("rank 1 stops");
    }
    const Pending unseen = runtime.launch(1, [&] { runtime.lane(1).device->charge_seconds(1); });
  };
  EXPECT_EQ(failure<Error>(flat(2), 2, let_go), "rank 1 stops");
}

TEST(Kills, OfAHostReachARankInsideTheDestructorOfAPending) {
  const auto let_go = [](RankRuntime& runtime) {
    {
      const Pending unseen = runtime.launch(1, [&] { runtime.lane(1).device->charge_seconds(1); });
    }
    runtime.lane(0).comm->barrier();
  };
  EXPECT_THAT(failure<BackendError>(flat(2, "faults=(1ms/gpu/0)"), 2, let_go),
              AllOf(HasSubstr("rank 1 lost rank 0 at 1 s"), HasSubstr("failed at 0.001 s")));
}

/// An exchange of rank 0 with itself and with rank 1 fails before rank 1 has come to it.
void fail_before_rank_1_comes(RankRuntime& runtime) {
  Communicator& comm = *runtime.lane(0).comm;
  const OwnedBuffer x = on_device<std::int64_t>(comm.device(), {100 + comm.rank()});
  const OwnedBuffer y = on_device<std::int64_t>(comm.device(), {0});
  if (comm.rank() == 1) {
    runtime.lane(0).device->charge_seconds(1);
    return comm.exchange({Transfer::send_to(0, x)});
  }
  try {
    comm.exchange({Transfer::receive_from(1, x), Transfer::send_to(0, y), Transfer::receive_from(0, phantom(4))});
  } catch (const Error&) {
    runtime.lane(0).device->charge_seconds(2);
    const std::int64_t now = on_host<std::int64_t>(comm.device(), x).front();
    throw Error("rank 0 went on, and what it offered no more is now " + std::to_string(now));
  }
}

TEST(FailedExchanges, TakeBackTheirEndsAndTellWhoeverComesLater) {
  EXPECT_THAT(
      failure<BackendError>(flat(2), 2, fail_before_rank_1_comes),
      AllOf(HasSubstr("rank 1 lost rank 0 at 1 s"), HasSubstr("an exchange of rank 0 on the same lane failed at 0 s")));
}

TEST(FailedLanes, AreTheCauseThatARunReports) {
  const auto failing = [](RankRuntime& runtime) {
    Communicator& comm = *runtime.lane(1).comm;
    Pending pending = runtime.launch(1, [&] {
      if (comm.rank() == 1) throw UsageError("the flux of rank 1 is 7");
      comm.barrier();
    });
    if (comm.rank() == 1) runtime.lane(0).device->charge_seconds(1000);
    pending.wait();
  };
  EXPECT_EQ(failure<UsageError>(flat(3), 3, failing), "the flux of rank 1 is 7");
}

TEST(Waiting, InAgreeEndsWithTheHostThatItNeeds) {
  const auto agree = [](RankRuntime& runtime) {
    if (runtime.lane(0).comm->rank() == 1) runtime.lane(0).device->charge_seconds(1);
    runtime.agree(1, ReduceOp::max);
  };
  EXPECT_THAT(failure<BackendError>(flat(3, "faults=(1ms/gpu/1)"), 3, agree), HasSubstr("lost rank 1 at 0.001 s"));
  const auto late = [](RankRuntime& runtime) {
    runtime.lane(0).device->charge_seconds(1);
    runtime.agree(1, ReduceOp::max);
  };
  EXPECT_THAT(failure<BackendError>(flat(3, "faults=(1ms/gpu/1)"), 3, late),
              AllOf(HasSubstr("lost rank 1 at 1 s"), HasSubstr("failed at 0.001 s")));
}

TEST(Waiting, InAgreeIsADeadlockWhereARankLeavesItOut) {
  const auto agree = [](RankRuntime& runtime) {
    if (runtime.lane(0).comm->rank() != 1) runtime.agree(1, ReduceOp::max);
  };
  EXPECT_THAT(
      failure<BackendError>(flat(3, "timeout=300s"), 3, agree),
      AllOf(HasSubstr("deadlock at 0 s"), HasSubstr("\n  at their end already: rank 1"),
            HasSubstr("\n  rank 0, main lane, all ranks: agree waits since 0 s for the other 2 ranks\n  rank 2,")));
}

TEST(Waiting, WhileEverybodyComputesTakesNoStepOfTheTimer) {
  const auto compute = [](RankRuntime& runtime) { runtime.lane(0).device->charge_seconds(1e19); };
  EXPECT_EQ(failure<BackendError>(flat(2), 2, compute), "");
  const auto then_wait = [](RankRuntime& runtime) {
    runtime.lane(0).device->charge_seconds(1e6);
    if (runtime.lane(0).comm->rank() == 0) runtime.lane(0).comm->exchange({Transfer::receive_from(1, phantom(4))});
  };
  EXPECT_THAT(failure<BackendError>(flat(2, "timeout=300s"), 2, then_wait), HasSubstr("deadlock at 1000000 s"));
}

TEST(Waiting, ForALaneThatNothingMovesIsADeadlock) {
  const auto sleepless = [](RankRuntime& runtime) {
    runtime.launch(2, [] { simgrid::s4u::Semaphore::create(0)->acquire(); }).wait();
  };
  EXPECT_THAT(failure<BackendError>(flat(1), 1, sleepless),
              HasSubstr("\n  rank 0, main lane waits since 0 s for background lane"));
}

TEST(Deadlocks, NameEveryBlockedLaneItsCollectiveBucketAndPeer) {
  World world;
  world.ranks = 3;
  world.bucket_lanes = 2;
  const auto run = [&] {
    Backends::make(flat(3, "timeout=300s"))->run(world, [](RankRuntime& runtime) {
      const int rank = runtime.lane(0).comm->rank();
      Pending second = runtime.launch(2, [&] {
        const Timeline::ForBucket third(runtime.lane(2).timeline, 3);
        if (rank != 1) runtime.lane(2).comm->all_reduce(phantom(1200), ReduceOp::sum);
      });
      if (rank == 1) runtime.lane(1).comm->exchange({Transfer::receive_from(2, phantom(8))});
      second.wait();
      return std::vector<std::byte>{};
    });
  };
  try {
    run();
    FAIL() << "nobody noticed the deadlock";
  } catch (const BackendError& error) {
    EXPECT_STREQ(
        error.what(),
        "deadlock at 0 s (simulated): no rank can move, and these lanes wait:\n"
        "  rank 0, main lane waits since 0 s for lane 2 (buckets 1, 3, ...)\n"
        "  rank 0, lane 2 (buckets 1, 3, ...), all ranks: exchange (in all_reduce of bucket 3) waits since 0 s "
        "for a send of 400 bytes to rank 1 and a receive of 400 bytes from rank 2\n"
        "  rank 1, lane 1 (buckets 0, 2, ...), all ranks: exchange waits since 0 s for a receive of 8 bytes "
        "from rank 2\n"
        "  rank 2, main lane waits since 0 s for lane 2 (buckets 1, 3, ...)\n"
        "  rank 2, lane 2 (buckets 1, 3, ...), all ranks: exchange (in all_reduce of bucket 3) waits since 0 s "
        "for a receive of 400 bytes from rank 1");
  }
}

}  // namespace
}  // namespace trigram::testing
