// Lanes, agreement and collection on every backend.
#include "core/lane/worker.hpp"
#include "tests/core/conformance.hpp"
#include "tests/core/overtaking.hpp"

namespace trigram::testing {
namespace {

class Lanes : public OnEveryPlace {};
INSTANTIATE_TEST_SUITE_P(Everywhere, Lanes, every_place(), place_name);

using Longs = std::vector<std::int64_t>;

std::int64_t sum_over_ranks(Communicator& comm, std::int64_t value) {
  const OwnedBuffer x = on_device<std::int64_t>(comm.device(), {value});
  comm.all_reduce(x, ReduceOp::sum);
  return on_host<std::int64_t>(comm.device(), x)[0];
}

TEST_P(Lanes, LanesMatchTheirOwnMessagesAndRunBesideTheMainLane) {
  World world;
  world.ranks = ranks();
  world.bucket_lanes = 2;
  const auto results = run_ranks<std::int64_t>(backend(), world, [](RankRuntime& runtime) {
    std::vector<OwnedBuffer> values;
    for (int index = 0; index < runtime.lanes(); ++index) {
      values.push_back(on_device<std::int64_t>(*runtime.lane(index).device, {index == 0 ? 10 : index}));
    }
    std::vector<Pending> pending;
    for (int index = 1; index < runtime.lanes(); ++index) {
      pending.push_back(runtime.launch(index, [&runtime, &values, index] {
        runtime.lane(index).comm->all_reduce(values[static_cast<std::size_t>(index)], ReduceOp::sum);
      }));
    }
    runtime.lane(0).comm->all_reduce(values[0], ReduceOp::sum);
    for (Pending& each : pending) each.wait();
    Longs seen;
    for (const OwnedBuffer& value : values) seen.push_back(on_host<std::int64_t>(*runtime.lane(0).device, value)[0]);
    seen.push_back(runtime.lanes());
    return seen;
  });
  const int n = ranks();
  for (const Longs& result : results) EXPECT_EQ(result, (Longs{10 * n, n, 2 * n, 3 * n, 4}));
}

TEST_P(Lanes, MessagesOfOneAreNotHandedToAnother) {
  const auto results = run<std::int64_t>(overtaken_messages);
  for (int rank = 0; rank < ranks(); ++rank) {
    const bool is_paired = (rank ^ 1) < ranks();
    EXPECT_EQ(results[static_cast<std::size_t>(rank)], is_paired ? overtaken_by_lane : (Longs{0, 0}));
  }
}

TEST_P(Lanes, BodiesOfOneLaneRunInOrderAndDestructorsWait) {
  const auto results = run<std::int64_t>([](RankRuntime& runtime) {
    Longs order;
    {
      const Pending first = runtime.launch(1, [&] {
        runtime.lane(1).comm->barrier();
        order.push_back(1);
      });
      const Pending second = runtime.launch(1, [&] { order.push_back(2); });
    }
    order.push_back(3);
    return order;
  });
  for (const Longs& result : results) EXPECT_EQ(result, (Longs{1, 2, 3}));
}

TEST_P(Lanes, WaitRethrowsTheBodysError) {
  const auto results = run<std::int64_t>([](RankRuntime& runtime) {
    Pending failing = runtime.launch(1, [] { throw UsageError("a body's own mistake"); });
    std::int64_t caught = 0;
    try {
      failing.wait();
    } catch (const UsageError& error) {
      caught = std::string(error.what()) == "a body's own mistake" ? 1 : 2;
    }
    failing.wait();
    const std::int64_t sum = sum_over_ranks(*runtime.lane(0).comm, caught);
    return Longs{sum, failing.done() ? 1 : 0};
  });
  for (const Longs& result : results) EXPECT_EQ(result, (Longs{ranks(), 1}));
}

/// 1 where a body fails with the lane's first error, 0 where it does not.
std::int64_t has_failed(Pending body) {
  try {
    body.wait();
  } catch (const UsageError& error) {
    return std::string(error.what()) == "a body's own mistake" ? 1 : -1;
  }
  return 0;
}

TEST_P(Lanes, OneWhoseBodyFailedRunsNothingMore) {
  const auto results = run<std::int64_t>([](RankRuntime& runtime) {
    std::int64_t runs = 0, runs_elsewhere = 0;
    Pending failing = runtime.launch(1, [] { throw UsageError("a body's own mistake"); });
    Pending behind = runtime.launch(1, [&] { ++runs; });
    Pending elsewhere = runtime.launch(2, [&] { ++runs_elsewhere; });
    Longs seen{has_failed(std::move(failing)), has_failed(std::move(behind)), has_failed(std::move(elsewhere))};
    seen.push_back(has_failed(runtime.launch(1, [&] { ++runs; })));
    seen.push_back(runs);
    seen.push_back(runs_elsewhere);
    return seen;
  });
  for (const Longs& result : results) EXPECT_EQ(result, (Longs{1, 1, 0, 1, 0, 1}));
}

TEST_P(Lanes, AnErrorNextToABlockedLaneEndsTheRun) {
  if (ranks() == 1) GTEST_SKIP() << "a lane of one rank has nobody to wait for";
  const auto body = [](RankRuntime& runtime) {
    if (runtime.lane(0).comm->rank() != 0) {
      runtime.lane(0).comm->barrier();
      return Longs{};
    }
    const Pending blocked = runtime.launch(1, [&] { runtime.lane(1).comm->barrier(); });
    throw UsageError("rank 0 gives up");
  };
  EXPECT_THROW(run<std::int64_t>(body), Error);
}

TEST_P(Lanes, NodesAndLeadersAreGroupsOfTheirOwn) {
  const auto node_of_rank = Backends::make(backend())->nodes(ranks());
  const auto results = run<std::int64_t>([](RankRuntime& runtime) {
    Lane& lane = runtime.lane(0);
    const std::int64_t bit = std::int64_t{1} << lane.comm->rank();
    return Longs{lane.node->rank(), sum_over_ranks(*lane.node, bit), lane.leaders->rank(),
                 sum_over_ranks(*lane.leaders, bit)};
  });
  for (int rank = 0; rank < ranks(); ++rank) {
    const Placement place = placement(node_of_rank, rank);
    std::int64_t node = 0;
    std::int64_t leaders = 0;
    std::int64_t before = 0;
    for (int r = 0; r < ranks(); ++r) {
      const Placement other = placement(node_of_rank, r);
      if (other.node == place.node) node += std::int64_t{1} << r;
      if (other.local_rank != place.local_rank) continue;
      leaders += std::int64_t{1} << r;
      before += r < rank ? 1 : 0;
    }
    EXPECT_EQ(results[static_cast<std::size_t>(rank)], (Longs{place.local_rank, node, before, leaders}));
  }
}

TEST_P(Lanes, AgreeReducesHostIntegersAndCountsNothing) {
  const auto results = run<std::int64_t>([](RankRuntime& runtime) {
    const std::int64_t value = runtime.lane(0).comm->rank() + 1;
    Longs seen;
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::min, ReduceOp::max}) seen.push_back(runtime.agree(value, op));
    seen.push_back(runtime.lane(0).meter.total().rounds);
    return seen;
  });
  for (const Longs& result : results) EXPECT_EQ(result, (Longs{ranks() * (ranks() + 1) / 2, 1, ranks(), 0}));
}

TEST_P(Lanes, KnowWhenTheLastRankEnded) {
  const auto results = run<double>([](RankRuntime& runtime) {
    const double own = 0.25 * runtime.lane(0).comm->rank();
    return std::vector<double>{runtime.max_seconds(own)};
  });
  for (const std::vector<double>& result : results) EXPECT_NEAR(result.at(0), 0.25 * (ranks() - 1), 1e-9);
}

TEST_P(Lanes, CollectCompletesOnceWithThePartsInRankOrder) {
  constexpr int keys = 3;
  const auto results = run<std::int64_t>([](RankRuntime& runtime) {
    Communicator& comm = *runtime.lane(0).comm;
    Longs completed;
    for (int key = 0; key < keys; ++key) {
      const std::vector<std::byte> part(static_cast<std::size_t>(comm.rank() + key),
                                        static_cast<std::byte>(comm.rank()));
      runtime.collect(key, part, [&](RankRuntime::Parts parts) {
        std::int64_t digest = key;
        for (std::size_t r = 0; r < parts.size(); ++r) {
          const bool right =
              parts[r] == std::vector<std::byte>(r + static_cast<std::size_t>(key), static_cast<std::byte>(r));
          digest = right ? digest : -1;
        }
        completed.push_back(parts.size() == static_cast<std::size_t>(comm.size()) ? digest : -1);
      });
    }
    comm.barrier();
    return completed;
  });
  Longs all;
  for (const Longs& result : results) all.insert(all.end(), result.begin(), result.end());
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, (Longs{0, 1, 2}));
}

}  // namespace
}  // namespace trigram::testing
