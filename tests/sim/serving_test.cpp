// What asking costs in simulated time, in which order requests arrive, and how it ends when somebody fails.
#include <gmock/gmock.h>

#include "core/lane/service.hpp"
#include "core/primitives/agreement.hpp"
#include "tests/sim/rig.hpp"

namespace trigram::testing::serving_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::int64_t megabyte = 1'000'000;
constexpr double kernel = 4e-6;  ///< seconds that the test's service computes for

/// Replies with one megabyte after a while; keeps back those of askers from `held_back` on.
class Echo final : public Service {
 public:
  explicit Echo(double seconds = 0, int held_back = 1000) : seconds_(seconds), held_back_(held_back) {}
  void take(Worker& lane, const Request& request) override {
    lane.device.charge_seconds(seconds_);
    order.push_back(request.asker);
  }
  std::optional<Buffer> give(Worker&, const Request& request) override {
    if (request.asker >= held_back_) return std::nullopt;
    return phantom(megabyte);
  }
  std::vector<int> order;

 private:
  double seconds_;
  int held_back_;
};

void ask_for(Worker& lane, int peer, std::int64_t bytes) { ask(lane, {peer, 0, phantom(bytes), phantom(megabyte)}); }

/// Rank 0 serves; what the others do, between `begin` and `end`.
Operation served(double seconds, const std::function<void(Worker&)>& others, int held_back = 1000) {
  return [=](RankRuntime& runtime) {
    Worker worker(runtime, 0, {});
    Echo echo(seconds, held_back);
    Serving serving;
    serving.begin(worker, worker.rank() == 0 ? &echo : nullptr);
    if (worker.rank() > 0) others(worker);
    serving.end(worker);
  };
}

double message(double bytes) { return alpha + bytes * beta; }

TEST(Asking, TakesARoundTripAndTheService) {
  const double seconds = duration(flat(2), 2, served(kernel, [](Worker& worker) { ask_for(worker, 0, 4 * megabyte); }));
  expect_relative(seconds, message(4e6) + kernel + message(1e6), 1e-6);
}

TEST(Asking, RequestsShareTheirWayAndAreServedOneByOne) {
  // Three requests arrive together over one link; replies leave one service after the other, and the last two share it.
  const double seconds = duration(flat(4), 4, served(1e-3, [](Worker& worker) { ask_for(worker, 0, megabyte); }));
  expect_relative(seconds, alpha + 3e6 * beta + 3 * 1e-3 + message(1e6), 1e-3);
}

TEST(Asking, OrderOfServiceIsThatOfArrival) {
  const auto results = run_ranks<int>(flat(4), 4, [](RankRuntime& runtime) {
    Worker worker(runtime, 0, {});
    Echo echo(1);  // so that the others wait in line
    Serving serving;
    serving.begin(worker, worker.rank() == 0 ? &echo : nullptr);
    if (worker.rank() > 0) ask_for(worker, 0, (4 - worker.rank()) * megabyte);
    serving.end(worker);
    return echo.order;
  });
  EXPECT_EQ(results[0], (std::vector<int>{3, 2, 1}));
}

TEST(Asking, OfAServiceThatIsNotAskedForLongIsNoDeadlock) {
  const auto late = served(kernel, [](Worker& worker) {
    worker.device.charge_seconds(1e6);
    ask_for(worker, 0, 4);
  });
  EXPECT_EQ(failure<BackendError>(flat(3, "timeout=300s"), 3, late), "");
}

TEST(Asking, WhereNobodyEverRepliesIsADeadlockThatNamesIt) {
  const auto kept = served(
      0, [](Worker& worker) { ask_for(worker, 0, 8); }, 2);
  EXPECT_THAT(
      failure<BackendError>(flat(3, "timeout=300s"), 3, kept),
      AllOf(HasSubstr("deadlock at 5"), HasSubstr("\n  rank 2, main lane, all ranks: ask waits since "),
            HasSubstr(" for a receive of 1000000 bytes from rank 0"),
            HasSubstr("\n  rank 0, background lane, all ranks: serve waits since "), HasSubstr(" for requests")));
}

TEST(Asking, SizesMustAgreeAtBothEnds) {
  const auto small = served(0, [](Worker& worker) { ask(worker, {0, 0, phantom(8), phantom(8)}); });
  EXPECT_EQ(
      failure<Error>(flat(2), 2, small),
      "rank 0 replies 1000000 bytes (phantom) where rank 1 expects 8 bytes (phantom); both ends of a message must "
      "agree");
}

TEST(Asking, EndsWithTheHostThatItNeeds) {
  const auto slow = served(1, [](Worker& worker) { ask_for(worker, 0, 8); });
  EXPECT_THAT(failure<BackendError>(flat(3, "faults=(1ms/gpu/0)"), 3, slow),
              AllOf(HasSubstr("lost rank 0 at 0.001 s"), HasSubstr("the host of rank 0 failed")));
  const auto later = served(0, [](Worker& worker) {
    worker.device.charge_seconds(1);
    ask_for(worker, 0, 8);
  });
  EXPECT_THAT(failure<BackendError>(flat(3, "faults=(1ms/gpu/0)"), 3, later), HasSubstr("lost rank 0 at "));
}

/// SimGrid begins what it has killed before, and such a lane once stayed for ever.
TEST(Asking, EndsWhereAServerDiesWhileItsLaneStarts) {
  const Operation none = served(kernel, [](Worker& worker) { worker.device.charge_seconds(1); });
  EXPECT_THAT(failure<BackendError>(flat(2, "faults=(0s/gpu/0 1us/gpu/1)"), 2, none),
              HasSubstr("the host of rank 0 failed"));
}

TEST(Asking, EndsWithAnAskerThatDies) {
  for (const double seconds : {0.0, 1.0}) {  // before its request was served, and while it is
    const auto twice = served(seconds, [](Worker& worker) {
      for (int time = 0; time < 1000; ++time) ask_for(worker, 0, 8);
    });
    EXPECT_THAT(failure<BackendError>(flat(3, "faults=(1ms/gpu/2)"), 3, twice), HasSubstr("rank 0 lost rank 2 at "));
  }
}

TEST(Asking, EndsWithALinkThatFails) {
  const auto ask_once = served(0, [](Worker& worker) { ask_for(worker, 0, 1000 * megabyte); });
  EXPECT_THAT(failure<BackendError>(flat(2, "faults=(1ms/nic/1)"), 2, ask_once),
              HasSubstr("rank 1 lost rank 0 at 0.001 s (simulated): a link between them failed"));
}

TEST(Asking, EndsWithTheErrorOfAServiceWhileItsOwnRankComputes) {
  const auto body = [](RankRuntime& runtime) {
    Worker worker(runtime, 0, {});
    class Broken final : public Service {
      void take(Worker&, const Request&) override { throw UsageError("the flux of rank 0 is 7"); }
      std::optional<Buffer> give(Worker&, const Request&) override { return std::nullopt; }
    } broken;
    Serving serving;
    serving.begin(worker, worker.rank() == 0 ? &broken : nullptr);
    if (worker.rank() > 0) ask_for(worker, 0, 8);
    for (int step = 0; step < 10; ++step) {
      worker.device.charge_seconds(1);
      serving.exclusively(worker, [] {});
    }
    serving.end(worker);
  };
  EXPECT_EQ(failure<UsageError>(flat(2), 2, body), "the flux of rank 0 is 7");
}

// Who comes early goes on for longer than the late one takes, and then knows the outcome.
TEST(Agreeing, TakesNoTimeOfThoseWhoDoSomethingElse) {
  constexpr double late = 10e-3, millisecond = 1e-3;
  const auto results = run_ranks<double>(flat(2), 2, [](RankRuntime& runtime) {
    Worker worker(runtime, 0, {});
    Agreement agreement(ReduceOp::max);
    agreement.setup(worker);
    if (worker.rank() == 1) worker.device.charge_seconds(late);
    agreement.start(worker, 5 + worker.rank());
    const double started = runtime.now();
    if (worker.rank() == 1) return std::vector<double>{static_cast<double>(agreement.outcome(worker))};
    worker.device.charge_seconds(late);
    const double before = agreement.done() ? 1 : 0;
    worker.device.charge_seconds(millisecond);
    const double after = agreement.done() ? 1 : 0;
    const auto outcome = static_cast<double>(agreement.outcome(worker));
    return std::vector<double>{outcome, before, after, runtime.now() - started};
  });
  EXPECT_EQ(results[1], std::vector<double>{6});
  EXPECT_THAT(results[0], ::testing::ElementsAre(6, 0, 1, ::testing::DoubleNear(late + millisecond, 1e-12)));
}

}  // namespace
}  // namespace trigram::testing::serving_test
