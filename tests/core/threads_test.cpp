// What ranks that are threads say when they have waited too long, and what others then hear.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/threads/gatherings.hpp"
#include "core/lane/service.hpp"
#include "core/values/error.hpp"
#include "tests/support/run_ranks.hpp"

namespace trigram::testing::threads_test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// A run on so many ranks whose operations wait for a moment alone.
auto impatient(int ranks, const std::function<void(RankRuntime&)>& body) {
  return [=] {
    run_ranks<float>("threads:timeout=100ms", ranks, [&](RankRuntime& runtime) {
      body(runtime);
      return std::vector<float>();
    });
  };
}

TEST(Threads, AnEntryThatIsRefusedLeavesNothingBehind) {
  const auto backend = Backends::make("threads:timeout=1s");
  World world;
  for (const int impossible : {257, 0, -1}) {
    world.ranks = impossible;
    EXPECT_THROW(backend->enter(world), UsageError) << impossible;
  }
  world.ranks = 1;
  EXPECT_EQ(backend->enter(world)->leave({}).results.size(), 1U);
}

TEST(Threads, AStuckExchangeSaysWhereAndForWhat) {
  const auto forgets = [](RankRuntime& runtime) {
    const OwnedBuffer x = runtime.lane(1).device->allocate(Shape::of(6, DType::f32));
    if (runtime.rank() == 0)
      runtime.launch(1, [&] { runtime.lane(1).comm->exchange({Transfer::receive_from(1, x)}); }).wait();
  };
  EXPECT_THAT(impatient(2, forgets),
              ThrowsMessage<BackendError>(HasSubstr("rank 0, lane 1 (buckets 0, 1, ...), all ranks: exchange number 1 "
                                                    "has waited 0.1 s for a receive of 24 bytes from rank 1")));
}

TEST(Threads, ARankThatServesAndThatNobodyLeavesSaysWhoMayStillAsk) {
  class Unused final : public Service {
    void take(Worker&, const Request&) override {}
    std::optional<Buffer> give(Worker&, const Request&) override { return std::nullopt; }
  };
  const auto stays = [](RankRuntime& runtime) {
    Unused unused;
    Worker worker(runtime, 0, {});
    Serving serving;
    serving.begin(worker, runtime.rank() == 1 ? &unused : nullptr);
    if (runtime.rank() == 0) runtime.agree(0, ReduceOp::sum);
    serving.end(worker);
  };
  EXPECT_THAT(impatient(2, stays),
              ThrowsMessage<BackendError>(HasSubstr("rank 1, background lane: serve has waited 0.1 s for a request of "
                                                    "any rank that may still ask, as rank 0")));
}

TEST(Threads, OthersHearWhoseFailureItWasAndWhy) {
  std::string heard;
  const auto fails = [&](RankRuntime& runtime) {
    if (runtime.rank() == 1) throw UsageError("the flux of rank 1 is 7");
    try {
      runtime.barrier();
    } catch (const BackendError& error) {
      heard = error.what();
    }
  };
  EXPECT_THAT(impatient(2, fails), ThrowsMessage<UsageError>("the flux of rank 1 is 7"));
  EXPECT_EQ(heard, "rank 0 ends since rank 1 failed: the flux of rank 1 is 7");
}

TEST(Threads, AGatheringNamesWhoIsMissing) {
  threads::Ending ending;
  Failure failure;
  threads::Gatherings gatherings(3);
  const auto alone = [&] {
    gatherings.all_gather(1, {}, {ending, failure, 1, /*seconds=*/0.02, [] { return "rank 1"; }});
  };
  EXPECT_THAT(alone, ThrowsMessage<BackendError>("rank 1 has waited 0.02 s for rank 0 and rank 2"));
}

}  // namespace
}  // namespace trigram::testing::threads_test
