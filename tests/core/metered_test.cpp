// What metering counts is what the formulas declare, for every collective and every way to all-reduce.
#include "core/lane/metered.hpp"

#include <bit>

#include "core/lane/all_reduce.hpp"
#include "tests/core/conformance.hpp"

namespace trigram::testing {
namespace {

class Metering : public OnEveryPlace {};
INSTANTIATE_TEST_SUITE_P(Everywhere, Metering, every_place(), place_name);

using Longs = std::vector<std::int64_t>;

/// Rounds and bytes that `action` adds on each rank.
std::vector<Longs> counted(const std::string& backend, const World& world,
                           const std::function<void(Communicator&, Buffer)>& action, std::int64_t count) {
  return run_ranks<std::int64_t>(backend, world, [&](RankRuntime& runtime) {
    Lane& lane = runtime.lane(0);
    const OwnedBuffer x = lane.device->allocate(Shape::of(count, DType::f32));
    const Cost before = lane.meter.total();
    action(*lane.comm, x);
    const Cost after = lane.meter.total();
    return Longs{after.rounds - before.rounds, after.bytes - before.bytes};
  });
}

void expect_declared(const std::vector<Longs>& counted, const std::function<Cost(int)>& declared,
                     const std::string& what) {
  for (int rank = 0; rank < static_cast<int>(counted.size()); ++rank) {
    const Cost cost = declared(rank);
    EXPECT_EQ(counted[static_cast<std::size_t>(rank)], (Longs{cost.rounds, cost.bytes})) << what << ", rank " << rank;
  }
}

World world_of(int ranks) {
  World world;
  world.ranks = ranks;
  return world;
}

TEST_P(Metering, EveryAllReduceCostsWhatItDeclares) {
  std::vector<std::int64_t> all_counts(std::begin(counts), std::end(counts));
  all_counts.push_back(long_and_odd(ranks()));
  const auto place = Backends::make(backend());
  const std::vector<int> nodes = place->nodes(ranks());
  for (std::string name : AllReduces::names()) {
    if (place->simulated()) name = place->all_reduce_here(name);
    for (const std::int64_t count : all_counts) {
      World world = world_of(ranks());
      world.all_reduce = name;
      const auto result = counted(
          backend(), world, [](Communicator& comm, Buffer x) { comm.all_reduce(x, ReduceOp::mean); }, count);
      expect_declared(
          result, [&](int r) { return all_reduce_named(name).cost_at(placement(nodes, r), count, 4); }, name);
    }
  }
}

TEST_P(Metering, RootedAndRingCollectivesCostWhatTheyDeclare) {
  for (const std::int64_t count : counts) {
    const auto measure = [&](const std::function<void(Communicator&, Buffer)>& action) {
      return counted(backend(), world_of(ranks()), action, count);
    };
    const int root = ranks() / 2;
    expect_declared(
        measure([](Communicator& comm, Buffer x) { comm.reduce_scatter(x, ReduceOp::sum); }),
        [&](int r) { return reduce_scatter_cost(ranks(), r, count, 4); }, "reduce_scatter");
    expect_declared(
        measure([](Communicator& comm, Buffer x) { comm.all_gather(x); }),
        [&](int r) { return all_gather_cost(ranks(), r, count, 4); }, "all_gather");
    expect_declared(
        measure([&](Communicator& comm, Buffer x) { comm.broadcast(x, root); }),
        [&](int r) { return broadcast_cost(ranks(), r, 4 * count, root); }, "broadcast");
    expect_declared(
        measure([&](Communicator& comm, Buffer x) { comm.reduce(x, ReduceOp::sum, root); }),
        [&](int r) { return reduce_cost(ranks(), r, 4 * count, root); }, "reduce");
    expect_declared(
        measure([](Communicator& comm, Buffer) { comm.barrier(); }), [&](int r) { return barrier_cost(ranks(), r); },
        "barrier");
  }
}

TEST_P(Metering, AllToAllIsOneRoundOfWhatIsSentToOthers) {
  const std::int64_t count = 101;
  const auto result = counted(
      backend(), world_of(ranks()),
      [](Communicator& comm, Buffer x) {
        const OwnedBuffer y = comm.device().allocate(Shape::of(2 * x.count(), DType::f32));
        std::vector<Buffer> send;
        std::vector<Buffer> receive;
        const std::int64_t own = chunk_count(x.count(), comm.size(), comm.rank());
        for (int r = 0; r < comm.size(); ++r) {
          send.push_back(x.chunk(r, comm.size()));
          receive.push_back(y.view().slice(r * own, own));
        }
        comm.all_to_all(send, receive);
      },
      count);
  expect_declared(
      result,
      [&](int r) {
        return Cost{ranks() > 1 ? 1 : 0, 4 * (count - chunk_count(count, ranks(), r))};
      },
      "all_to_all");
}

TEST_P(Metering, EverythingIsCountedInSplitsAndNothingToOneself) {
  const auto result = counted(
      backend(), world_of(ranks()),
      [](Communicator& comm, Buffer x) {
        const auto pair = comm.split(comm.rank() / 2, comm.rank());
        pair->broadcast(x, 0);
        comm.exchange(std::span<const Transfer>());
      },
      10);
  expect_declared(
      result, [&](int r) { return broadcast_cost(r / 2 * 2 + 1 < ranks() ? 2 : 1, r % 2, 40, 0); },
      "broadcast in a pair");
}

// Once for all of them where the backend performs the collective itself.
TEST_P(Metering, WireTimeIsRecordedOnceForEachRound) {
  World world = world_of(ranks());
  world.keep_spans = true;
  const auto result = run_ranks<std::int64_t>(backend(), world, [](RankRuntime& runtime) {
    Lane& lane = runtime.lane(0);
    const OwnedBuffer x = lane.device->allocate(Shape::of(10, DType::f32));
    lane.comm->broadcast(x, 0);
    const bool at_once = lane.comm->performs({.collective = Collective::broadcast, .x = x});
    const std::int64_t rounds = at_once ? broadcast_cost(lane.comm->size(), lane.comm->rank(), 40, 0).rounds : 1;
    Longs seen{0, 0};
    for (const Span& span : lane.timeline.spans()) {
      if (span.activity != Activity::wire) continue;
      ensure(std::string(span.name) == "broadcast", std::string("a span is called ") + span.name);
      seen[0] += rounds;
      seen[1] += span.bytes;
    }
    return seen;
  });
  expect_declared(
      result, [&](int r) { return broadcast_cost(ranks(), r, 40, 0); }, "wire spans of a broadcast");
}

// The closed forms: 2(n−1) rounds and 2(n−1)/n M bytes where n divides the count.
TEST(DeclaredCosts, EqualTheClosedForms) {
  for (const int n : {2, 4, 8, 16, 64}) {
    const std::int64_t count = 64 * 5;
    const std::int64_t bytes = 4 * count;
    const std::int64_t log = std::bit_width(static_cast<unsigned>(n)) - 1;
    for (int rank = 0; rank < n; ++rank) {
      EXPECT_EQ(all_reduce_named("ring").cost(n, rank, count, 4), (Cost{2 * (n - 1), 2 * (n - 1) * bytes / n}));
      EXPECT_EQ(all_reduce_named("rabenseifner").cost(n, rank, count, 4), (Cost{2 * log, 2 * (n - 1) * bytes / n}));
      EXPECT_EQ(all_reduce_named("recursive_doubling").cost(n, rank, count, 4), (Cost{log, log * bytes}));
      EXPECT_EQ(barrier_cost(n, rank), (Cost{log, 0}));
    }
    EXPECT_EQ(broadcast_cost(n, 0, bytes, 0), (Cost{log, log * bytes}));
    EXPECT_EQ(reduce_cost(n, 0, bytes, 0), (Cost{log, 0}));
    EXPECT_EQ(broadcast_cost(n, n - 1, bytes, 0), (Cost{1, 0}));
    EXPECT_EQ(reduce_cost(n, n - 1, bytes, 0), (Cost{1, bytes}));
  }
}

TEST(DeclaredCosts, TreesSendEveryVectorOnce) {
  for (int n = 1; n <= 17; ++n) {
    Cost broadcasts;
    Cost reductions;
    for (int rank = 0; rank < n; ++rank) {
      broadcasts += broadcast_cost(n, rank, 10, n / 3);
      reductions += reduce_cost(n, rank, 10, n / 3);
    }
    EXPECT_EQ(broadcasts, (Cost{2 * (n - 1), 10 * (n - 1)}));
    EXPECT_EQ(reductions, (Cost{2 * (n - 1), 10 * (n - 1)}));
  }
}

}  // namespace
}  // namespace trigram::testing
