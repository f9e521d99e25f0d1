// The groups of a mesh on every backend: who is in them, on every lane, and that no message leaves its line.
#include "core/lane/hierarchy.hpp"
#include "core/lane/service.hpp"
#include "tests/core/conformance.hpp"

namespace trigram::testing {
namespace {

using Longs = std::vector<std::int64_t>;

/// Half of the ranks along data, two along expert.
class Meshes : public OnEveryPlace {
 protected:
  static World world() {
    World world;
    world.ranks = ranks();
    world.mesh = "data=" + std::to_string(ranks() / 2) + ",expert=2";
    return world;
  }
};
INSTANTIATE_TEST_SUITE_P(Everywhere, Meshes,
                         ::testing::Combine(::testing::ValuesIn(tested_backends()), ::testing::Values(2, 4, 6)),
                         place_name);

std::int64_t sum_of(Communicator& comm, std::int64_t value) {
  const OwnedBuffer x = on_device<std::int64_t>(comm.device(), {value});
  comm.all_reduce(x, ReduceOp::sum);
  return on_host<std::int64_t>(comm.device(), x)[0];
}

TEST_P(Meshes, EveryLaneHasTheLinesOfItsRank) {
  const auto results = run_ranks<std::int64_t>(backend(), world(), [](RankRuntime& runtime) {
    Longs seen;
    for (int index = 0; index < runtime.lanes(); ++index) {
      Worker worker(runtime, index, {});
      const std::int64_t bit = std::int64_t{1} << runtime.rank();
      Communicator& expert = worker.group("expert");
      seen.insert(seen.end(), {worker.rank(), sum_of(worker.comm, bit), expert.rank(), sum_of(expert, bit)});
      const bool is_own = &expert == runtime.lane(index).other_axes.at("expert").get();
      seen.push_back(is_own && &worker.group("data") == &worker.comm ? 1 : 0);
    }
    return seen;
  });
  for (int rank = 0; rank < ranks(); ++rank) {
    std::int64_t data = 0;
    for (int other = rank % 2; other < ranks(); other += 2) data += std::int64_t{1} << other;
    const Longs of_a_lane{rank / 2, data, rank % 2, std::int64_t{3} << (rank - rank % 2), 1};
    Longs expected;
    for (int lane = 0; lane < 3; ++lane) expected.insert(expected.end(), of_a_lane.begin(), of_a_lane.end());
    EXPECT_EQ(results[static_cast<std::size_t>(rank)], expected) << "rank " << rank;
  }
}

// Rank r brings r + 1: over a line of n ranks that begins at e the mean is n + e. Nodes of a line may be unequal.
TEST_P(Meshes, AHierarchyTakesMeansOverTheDataLine) {
  const auto results = run_ranks<float>(backend(), world(), [](RankRuntime& runtime) {
    Worker worker(runtime, 0, {.hierarchy = Hierarchy::leader});
    const OwnedBuffer x = on_device<float>(worker.device, {static_cast<float>(runtime.rank() + 1)});
    hierarchical(worker, x, NodeValue::weighted_mean,
                 [](Communicator& group, Buffer part) { group.all_reduce(part, ReduceOp::mean); });
    return on_host<float>(worker.device, x);
  });
  for (int rank = 0; rank < ranks(); ++rank)
    EXPECT_NEAR(results[static_cast<std::size_t>(rank)].front(), ranks() / 2 + rank % 2, 1e-5) << "rank " << rank;
}

TEST_P(Meshes, AnAgreementIsAmongAllRanks) {
  const auto results = run_ranks<std::int64_t>(backend(), world(), [](RankRuntime& runtime) {
    return Longs{Worker(runtime, 0, {}).agree(runtime.rank(), ReduceOp::sum)};
  });
  for (const Longs& result : results) EXPECT_EQ(result, Longs{ranks() * (ranks() - 1) / 2});
}

/// Replies with what it is asked, 100 times the rank that asks, and 1000 times its own among all.
class SaysWho final : public Service {
 public:
  void take(Worker& lane, const Request& request) override {
    said_ = on_device<std::int64_t>(lane.device, {1000 * lane.runtime().rank() + 100 * request.asker +
                                                  on_host<std::int64_t>(lane.device, request.content).front()});
  }
  std::optional<Buffer> give(Worker&, const Request&) override { return said_; }

 private:
  OwnedBuffer said_;
};

TEST_P(Meshes, ThoseWhoAskCountTheRanksOfTheirLine) {
  const auto results = run_ranks<std::int64_t>(backend(), world(), [](RankRuntime& runtime) {
    Worker worker(runtime, 0, {});
    SaysWho service;
    Serving serving;
    serving.begin(worker, &service);
    Longs seen;
    for (int peer = 0; peer < worker.world_size(); ++peer) {
      if (peer == worker.rank()) continue;
      const OwnedBuffer x = on_device<std::int64_t>(worker.device, {runtime.rank()});
      ask(worker, {peer, 0, x, x});
      seen.push_back(on_host<std::int64_t>(worker.device, x).front());
    }
    serving.end(worker);
    return seen;
  });
  for (int rank = 0; rank < ranks(); ++rank) {
    Longs expected;
    for (int peer = rank % 2; peer < ranks(); peer += 2) {
      if (peer != rank) expected.push_back(1000 * peer + 100 * (rank / 2) + rank);
    }
    EXPECT_EQ(results[static_cast<std::size_t>(rank)], expected) << "rank " << rank;
  }
}

TEST_P(Meshes, AnAxisThatIsNotThereIsNamed) {
  const auto results = run_ranks<std::int64_t>(backend(), world(), [](RankRuntime& runtime) {
    Worker worker(runtime, 0, {});
    try {
      worker.group("tensor");
    } catch (const Error& error) {
      return Longs{std::string(error.what()).ends_with(",expert=2 has no axis 'tensor'; name it in --mesh") ? 1 : 2};
    }
    return Longs{0};
  });
  for (const Longs& result : results) EXPECT_EQ(result, Longs{1});
}

}  // namespace
}  // namespace trigram::testing
