// Asking and serving on every backend that has them: who is answered, with what, when, and how it ends.
#include "core/lane/service.hpp"

#include "tests/core/conformance.hpp"
#include "tests/core/overtaking.hpp"

namespace trigram::testing {
namespace {

class Services : public OnEveryPlace {};
INSTANTIATE_TEST_SUITE_P(Everywhere, Services, every_place(), place_name);

using Longs = std::vector<std::int64_t>;

/// Calls two functions.
class TestService final : public Service {
 public:
  using Take = std::function<void(Worker&, const Request&)>;
  using Give = std::function<std::optional<Buffer>(Worker&, const Request&)>;
  TestService(Take take, Give give) : take_(std::move(take)), give_(std::move(give)) {}
  void take(Worker& lane, const Request& request) override { take_(lane, request); }
  std::optional<Buffer> give(Worker& lane, const Request& request) override { return give_(lane, request); }

 private:
  Take take_;
  Give give_;
};

std::int64_t value_of(Worker& lane, const Request& request) {
  return on_host<std::int64_t>(lane.device, request.content).front();
}

/// Adds up what each rank sends and replies with its sum so far.
class Sums final : public Service {
 public:
  explicit Sums(Worker& worker)
      : sums_(on_device(worker.device, Longs(static_cast<std::size_t>(worker.world_size())))) {}
  void take(Worker& lane, const Request& request) override {
    lane.device.reduce(ReduceOp::sum, request.content, of(request.asker));
  }
  std::optional<Buffer> give(Worker&, const Request& request) override { return of(request.asker); }

 private:
  Buffer of(int rank) const { return sums_.view().slice(rank, 1); }
  OwnedBuffer sums_;
};

std::int64_t answered(Worker& lane, int peer, std::int64_t value, int subject = 0) {
  const OwnedBuffer x = on_device<std::int64_t>(lane.device, {value});
  ask(lane, {peer, subject, x, x});
  return on_host<std::int64_t>(lane.device, x).front();
}

TEST_P(Services, ARankThatDoesSomethingElseAnswersEverybody) {
  const auto results = run<std::int64_t>([](RankRuntime& runtime) {
    Worker worker(runtime, 0, {});
    Serving serving;
    Sums sums(worker);
    Longs seen;
    const int last = worker.world_size() - 1;
    serving.begin(worker, worker.rank() == last ? &sums : nullptr);
    for (int time = 0; time < 3 && worker.rank() != last; ++time)
      seen.push_back(answered(worker, last, 1 + worker.rank()));
    serving.end(worker);
    const Cost cost = runtime.lane(worker.rank() == last ? worker.background_lane() : 0).meter.total();
    seen.insert(seen.end(), {cost.rounds, cost.bytes});
    return seen;
  });
  const int last = ranks() - 1;
  for (int rank = 0; rank < last; ++rank) {
    const std::int64_t own = 1 + rank;
    EXPECT_EQ(results[static_cast<std::size_t>(rank)], (Longs{own, 2 * own, 3 * own, 3, 3 * 8}));
  }
  EXPECT_EQ(results.back(), (Longs{3 * last, 3 * last * 8}));
}

TEST_P(Services, EverybodyAsksEverybodyAtOnceFromTwoLanes) {
  World world;
  world.ranks = ranks();
  world.bucket_lanes = 2;
  const auto results = run_ranks<std::int64_t>(backend(), world, [](RankRuntime& runtime) {
    Worker worker(runtime, 0, {});
    OwnedBuffer reply = worker.device.allocate(Shape::of(1, DType::i64));
    TestService service(
        [&](Worker& lane, const Request& request) {
          const Longs value{1000 * lane.rank() + 100 * request.subject + 10 * request.asker + value_of(lane, request)};
          lane.device.upload(std::as_bytes(std::span(value)), reply);
        },
        [&](Worker&, const Request&) { return reply.view(); });
    Serving serving;
    serving.begin(worker, &service);
    Longs wrong{0};
    const auto ask_all = [&](Worker& lane) {
      std::vector<OwnedBuffer> memory;
      std::vector<Ask> asks;
      for (int peer = 0; peer < lane.world_size(); ++peer) {
        if (peer == lane.rank()) continue;
        memory.push_back(on_device<std::int64_t>(lane.device, {lane.lane}));
        asks.push_back({peer, lane.lane, memory.back(), memory.back()});
      }
      for (int time = 0; time < 5; ++time) {
        for (const OwnedBuffer& one : memory) lane.device.fill(one, lane.lane);
        ask(lane, asks);
        for (const Ask& one : asks) {
          const std::int64_t expected = 1000 * one.peer + 100 * lane.lane + 10 * lane.rank() + lane.lane;
          if (on_host<std::int64_t>(lane.device, one.reply).front() != expected) ++wrong.front();
        }
      }
    };
    Pending first = worker.start(1, ask_all);
    first.wait();
    Pending both = worker.start(1, ask_all);
    ask_all(worker);
    both.wait();
    serving.end(worker);
    wrong.push_back(runtime.lane(1).meter.total().rounds);
    wrong.push_back(runtime.lane(worker.background_lane()).meter.total().rounds);
    return wrong;
  });
  const std::int64_t asked = ranks() == 1 ? 0 : 10;
  for (const Longs& result : results) EXPECT_EQ(result, (Longs{0, asked, 15 * (ranks() - 1)}));
}

TEST_P(Services, RepliesToALaneAreNotHandedToAnother) {
  if (ranks() == 1) GTEST_SKIP() << "nobody asks";
  for (const Longs& result : run<std::int64_t>(overtaken_replies)) EXPECT_EQ(result, overtaken_by_subject);
}

// An agreement that blocks nobody: votes go to rank 0, which replies when all are there.
TEST_P(Services, WhatIsTooEarlyIsRepliedLater) {
  const auto results = run<std::int64_t>([](RankRuntime& runtime) {
    Worker worker(runtime, 0, {});
    std::int64_t votes = 0;
    OwnedBuffer sum = worker.device.allocate(Shape::of(1, DType::i64));
    TestService service(
        [&](Worker& lane, const Request& request) {
          lane.device.reduce(ReduceOp::sum, request.content, sum);
          ++votes;
        },
        [&](Worker& lane, const Request&) {
          return votes + 1 < lane.world_size() ? std::nullopt : std::optional(sum.view());
        });
    Serving serving;
    serving.begin(worker, worker.rank() == 0 ? &service : nullptr);
    std::int64_t agreed = 0;
    Pending vote;
    if (worker.rank() > 0) vote = worker.start(1, [&](Worker& lane) { agreed = answered(lane, 0, lane.rank()); });
    vote.wait();
    serving.end(worker);
    return Longs{agreed};
  });
  for (int rank = 1; rank < ranks(); ++rank)
    EXPECT_EQ(results[static_cast<std::size_t>(rank)], Longs{ranks() * (ranks() - 1) / 2});
}

TEST_P(Services, NeverRunBesideAnExclusiveBody) {
  const auto results = run<std::int64_t>([](RankRuntime& runtime) {
    Worker worker(runtime, 0, {});
    int inside = 0;
    std::int64_t meetings = 0;
    const auto enter = [&](Worker& lane, double seconds) {
      if (++inside > 1) ++meetings;
      lane.device.charge_seconds(seconds);
      const OwnedBuffer some = lane.device.allocate(Shape::of(1000, DType::f32));
      lane.device.fill(some, 1);
      --inside;
    };
    const OwnedBuffer nothing = worker.device.allocate(Shape::of(1, DType::i64));
    TestService service([&](Worker& lane, const Request&) { enter(lane, 1e-5); },
                        [&](Worker&, const Request&) { return nothing.view(); });
    Serving serving;
    serving.begin(worker, &service);
    for (int time = 0; time < 20; ++time) {
      // Long enough, and of other lengths on other ranks, for requests to come meanwhile.
      serving.exclusively(worker, [&] { enter(worker, 1e-4 * (1 + worker.rank() + time % 3)); });
      if (worker.world_size() > 1) answered(worker, (worker.rank() + 1) % worker.world_size(), 0);
    }
    serving.end(worker);
    return Longs{meetings};
  });
  for (const Longs& result : results) EXPECT_EQ(result, Longs{0});
}

TEST_P(Services, AServiceThatFailsEndsTheRunWithItsOwnError) {
  if (ranks() == 1) GTEST_SKIP() << "nobody asks";
  const auto body = [](RankRuntime& runtime) {
    Worker worker(runtime, 0, {});
    TestService service([](Worker&, const Request&) { throw UsageError("the flux of rank 1 is 7"); },
                        [](Worker&, const Request&) { return std::nullopt; });
    Serving serving;
    try {
      serving.begin(worker, worker.rank() == 1 ? &service : nullptr);
      if (worker.rank() == 0) answered(worker, 1, 7);
      serving.end(worker);
    } catch (const std::exception&) {
      runtime.stop_lanes();
      throw;
    }
    return Longs{};
  };
  try {
    run<std::int64_t>(body);
    FAIL() << "nobody noticed";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "the flux of rank 1 is 7");
  }
}

TEST_P(Services, AskedOfNobodyOrOfOneselfAreRefused) {
  const auto results = run<std::int64_t>([](RankRuntime& runtime) {
    Worker worker(runtime, 0, {});
    Longs refused{0, 0, 0};
    const OwnedBuffer x = on_device<std::int64_t>(worker.device, {7});
    const int next = (worker.rank() + 1) % worker.world_size();
    const std::vector<std::vector<int>> wrong{{worker.world_size()}, {worker.rank()}, {next, next}};
    for (std::size_t i = 0; i < wrong.size(); ++i) {
      std::vector<Ask> asks;
      for (const int peer : wrong[i]) asks.push_back({peer, 0, x, x});
      try {
        ask(worker, asks);
      } catch (const UsageError&) {
        refused[i] = 1;
      } catch (const Error&) {
        refused[i] = 2;
      }
    }
    return refused;
  });
  for (const Longs& result : results) EXPECT_EQ(result, (Longs{1, 2, 2}));
}

}  // namespace
}  // namespace trigram::testing
