// What a rank's process sees to before its clock runs, and what it notices; on doubles, which count and can be late.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>

#include "backends/gpu/watchdog.hpp"
#include "core/training/training.hpp"
#include "core/values/error.hpp"
#include "meeting/store/epoch_meeting.hpp"
#include "ptx/runtime/control.hpp"
#include "tests/gpu/host/ranks.hpp"
#include "tests/support/run_ranks.hpp"

namespace trigram::gpu {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

using Longs = std::vector<std::int64_t>;

TEST(GpuProcess, LooksForCublasBeforeTheClockRuns) {
  const auto results = run_ranks<std::int64_t>("gpu:timeout=60s", 1, [](RankRuntime& runtime) {
    const std::int64_t before = cuda_on_host::cublas_openings();
    Device& device = *runtime.lane(1).device;
    const OwnedBuffer a = on_device<float>(device, {1, 2, 3, 4}), c = on_device<float>(device, {0, 0, 0, 0});
    device.gemm({.m = 2, .n = 2, .k = 2}, a, a, c);
    return Longs{before == 0 ? 0 : 1, cuda_on_host::cublas_openings() - before};
  });
  EXPECT_EQ(results.front(), (Longs{1, 0}));
}

/// Two ranks that start bodies on these lanes, rank 1 in the opposite order.
void start_lanes(const std::vector<int>& lanes) {
  World world;
  world.ranks = 2;
  world.bucket_lanes = 2;
  run_ranks<std::int64_t>("gpu:timeout=60s", world, [&](RankRuntime& runtime) {
    std::vector<int> own = lanes;
    if (runtime.lane(0).comm->rank() == 1) std::ranges::reverse(own);
    std::vector<Pending> all;
    for (const int lane : own) all.push_back(runtime.launch(lane, [] {}));
    for (Pending& pending : all) pending.wait();
    return Longs{};
  });
}

TEST(GpuProcess, RefusesLanesStartedInDifferentOrders) {
  EXPECT_THAT(
      [] {
        start_lanes({1, 2});
      },
      ThrowsMessage<Error>(HasSubstr("ranks have started lanes in different orders")));
  EXPECT_NO_THROW(start_lanes({1, 2, 1}));
  EXPECT_NO_THROW(start_lanes({3, 1})) << "the background lane";
}

TEST(GpuProcess, RefusesCollectivesOfTheMainLaneInDifferentPlacesAmongLanes) {
  const auto reduce_beside_a_lane = [](bool alike) {
    World world;
    world.ranks = 2;
    run_ranks<std::int64_t>("gpu:timeout=60s", world, [&](RankRuntime& runtime) {
      const OwnedBuffer x = runtime.lane(0).device->allocate(Shape::of(8, DType::f32));
      const bool first = alike || runtime.lane(0).comm->rank() == 0;
      if (first) runtime.lane(0).comm->all_reduce(x, ReduceOp::sum);
      runtime.launch(1, [] {}).wait();
      if (!first) runtime.lane(0).comm->all_reduce(x, ReduceOp::sum);
      return Longs{};
    });
  };
  EXPECT_THAT([&] { reduce_beside_a_lane(false); },
              ThrowsMessage<Error>(HasSubstr("ranks have started lanes in different orders")));
  EXPECT_NO_THROW(reduce_beside_a_lane(true));
}

TEST(GpuProcess, TrainsAlikeWhereCallsBlock) {
  TrainingOptions options;
  options.algorithm = "bytegrad";
  options.workload = "quadratic";
  options.steps = 4;
  options.keep_weights = true;
  World world;
  world.ranks = 2;
  const Training asking = run_training(*Backends::make("gpu:timeout=60s"), world, options);
  const Training blocking = run_training(*Backends::make("gpu:timeout=60s,blocking=on"), world, options);
  EXPECT_EQ(asking.ranks.front().weights, blocking.ranks.front().weights);
  EXPECT_THAT(asking.facts, HasSubstr("\"nccl_calls\":\"ask\""));
  EXPECT_THAT(blocking.facts, HasSubstr("\"nccl_calls\":\"block\""));
}

/// Watches as rank 0 of one, on device `device`, while the host is inside a call for longer than it may be.
void watch_a_call(int device) {
  const MeetingPlace place;
  const auto rendezvous = meet(place.file(), member_named(0, 1), {20});
  Watchdog watchdog(*rendezvous, device, [](const std::string& reason) { write_line("trigram: " + reason); });
  watchdog.use_timeout(0.2);
  const Watchdog::HostCall call(watchdog, "rank 0, lane 1, making its groups");
  std::this_thread::sleep_for(std::chrono::seconds(20));
}

TEST(WatchdogDeathTest, EndsAJobWhoseHostHangsInACall) {
  EXPECT_EXIT(watch_a_call(0), ::testing::ExitedWithCode(1),
              "rank 0, lane 1, making its groups has waited 0.2 s for the other ranks");
}

TEST(WatchdogDeathTest, SaysThatItsDeviceCannotBeUsed) {
  EXPECT_EXIT(watch_a_call(7), ::testing::ExitedWithCode(1),
              "rank 0: its watchdog cannot use device 7: cudaSetDevice: invalid device ordinal");
}

/// Of a rank alone, whose watchdog can read of a failure while the rank is still telling of it.
class SlowNews final : public Rendezvous {
 public:
  int rank() const override { return 0; }
  int ranks() const override { return 1; }
  Parts all_gather(const Bytes& own, Patience) override { return {own}; }
  Parts gather(const Bytes& own, Patience) override { return {own}; }
  void publish(const JobFailure& failure) noexcept override {
    {
      const std::lock_guard lock(mutex_);
      failure_ = failure;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
  }
  std::optional<JobFailure> failure() override {
    const std::lock_guard lock(mutex_);
    return failure_;
  }
  void leave() noexcept override {}
  std::string place() const override { return "here"; }

 private:
  std::mutex mutex_;
  std::optional<JobFailure> failure_;
};

TEST(WatchdogDeathTest, LetsARankThatFailsEndByItself) {
  const auto fail = [] {
    SlowNews rendezvous;
    Watchdog watchdog(rendezvous, 0, [](const std::string& reason) { write_line("trigram: " + reason); });
    watchdog.fail("different settings");
    _exit(2);
  };
  EXPECT_EXIT(fail(), ::testing::ExitedWithCode(2), "^$");
}

TEST(GpuProcess, RefusesMembersCallsThatBlock) {
  keep_seat(std::make_unique<EpochSeat>(
      EpochSeat::Terms{.host = "127.0.0.1", .secret = "a secret of the tests", .patience = 20}));
  EXPECT_THAT(
      [] { Backends::make("gpu:blocking=on"); },
      ThrowsMessage<UsageError>(HasSubstr("with blocking=on only the watchdog's abort ends what hangs in NCCL")));
}

TEST(GpuProcess, OpensItsWayOutInPlaceOfEnding) {
  SlowNews rendezvous;
  const auto way_out = std::make_shared<WayOut>();
  const auto report = [](const std::string& reason) { ADD_FAILURE() << "the process ends: " << reason; };
  {
    Watchdog watchdog(rendezvous, 0, report, way_out);
    way_out->ask("the others go on");
    while (!way_out->is_open()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_THAT([&] { way_out->require_shut(); }, ThrowsMessage<BackendError>("rank 0 has failed: the others go on"));
  ASSERT_TRUE(rendezvous.failure().has_value()) << "the others do not learn of it";
  EXPECT_EQ(rendezvous.failure()->reason, "the others go on");
}

}  // namespace
}  // namespace trigram::gpu
