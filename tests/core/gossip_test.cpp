// Gossip of several values in one round, and push-sum on a graph that moves the mean.
#include "core/primitives/gossip.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "core/lane/metered.hpp"
#include "tests/support/run_ranks.hpp"

namespace trigram::gossip_test {
namespace {

constexpr int ranks = 8, nobody = -1;

/// Leaves a rank out, as a backend does where that one is gone; at that rank, all others.
class Without final : public Communicator {
 public:
  Without(std::unique_ptr<Communicator> all, int gone) : all_(std::move(all)), gone_(gone) {}

  int rank() const override { return all_->rank(); }
  int size() const override { return all_->size(); }
  Device& device() override { return all_->device(); }
  std::unique_ptr<Communicator> regroup(const GroupPart& part) override { return all_->regroup(part); }
  void exchange(std::span<const Transfer> transfers) override { all_->exchange(transfers); }
  std::vector<int> exchange_with_those_there(std::span<const Transfer> transfers) override {
    std::vector<Transfer> possible;
    std::set<int> gone;
    for (const Transfer& transfer : transfers) {
      if (rank() == gone_ || transfer.peer == gone_) {
        gone.insert(transfer.peer);
      } else {
        possible.push_back(transfer);
      }
    }
    all_->exchange(possible);
    return {gone.begin(), gone.end()};
  }

 private:
  std::unique_ptr<Communicator> all_;
  int gone_;
};

/// `rounds` of gossip, of x alone or with a weight of 1, from x = 8·rank, without the rank that is `gone`; what each
/// rank has then.
std::vector<std::vector<float>> gossiped(const std::string& topology_spec, int rounds, bool with_weight,
                                         int gone = nobody) {
  return run_ranks<float>("threads:ranks_per_node=2", ranks, [&](RankRuntime& runtime) {
    Lane& lane = runtime.lane(0);
    if (gone != nobody) {
      lane.comm = metered(std::make_unique<Without>(std::move(lane.comm), gone), lane.meter, lane.timeline,
                          [](int rank) { return rank; });
    }
    Worker worker(runtime, 0, Relaxation{});
    const auto topology = make_topology(topology_spec, ranks);
    std::vector<OwnedBuffer> values{
        on_device<float>(worker.device, std::vector<float>(3, static_cast<float>(8 * worker.rank())))};
    if (with_weight) values.push_back(on_device<float>(worker.device, {1.0F}));
    const std::vector<Buffer> views(values.begin(), values.end());
    for (int round = 0; round < rounds; ++round) gossip(worker, *topology, round, views);
    std::vector<float> all;
    for (const Buffer& view : views) {
      const std::vector<float> one = on_host<float>(worker.device, view);
      all.insert(all.end(), one.begin(), one.end());
    }
    const Cost sent = runtime.lane(0).meter.total();
    all.push_back(static_cast<float>(sent.rounds));
    all.push_back(static_cast<float>(sent.bytes));
    return all;
  });
}

TEST(Gossip, TakesOneRoundForSeveralValuesAndAMessageEach) {
  const auto together = gossiped("ring", 2, true);
  const auto alone = gossiped("ring", 2, false);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    EXPECT_EQ(together[rank][0], alone[rank][0]);
    EXPECT_EQ(together[rank][4], 2) << "rounds";
    EXPECT_EQ(together[rank][5], 2 * 2 * (12 + 4)) << "bytes";
    EXPECT_EQ(alone[rank][3], 2) << "rounds";
    EXPECT_EQ(alone[rank][4], 2 * 2 * 12) << "bytes";
  }
}

TEST(Gossip, LeavesOutWhoIsGoneAndKeepsTheMeanOfTheOthers) {
  const auto once = gossiped("ring", 1, false, 3);
  EXPECT_NEAR(once[2][0], (8.0F + 2 * 16.0F) / 3, 1e-5) << "what the one that is gone would weigh, rank 2 does itself";
  EXPECT_NEAR(once[4][0], (2 * 32.0F + 40.0F) / 3, 1e-5);
  EXPECT_NEAR(once[6][0], 48.0F, 1e-5);
  EXPECT_EQ(once[3][0], 24.0F);
  for (const std::string topology : {"ring", "one_peer_exponential", "complete", "random_matching"}) {
    const auto values = gossiped(topology, 4, false, 3);
    float sum = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) sum += rank == 3 ? 0 : values[rank][0];
    if (topology != "one_peer_exponential") {
      EXPECT_NEAR(sum, 8 * 28 - 24, 1e-3) << topology;
    }
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      EXPECT_GE(values[rank][0], 0) << topology;
      EXPECT_LE(values[rank][0], 8 * 7) << topology;
    }
  }
}

TEST(Gossip, CostsWhatIsCountedAlsoWithSeveralValues) {
  CostQuery query;
  query.place = {.rank = 3, .ranks = ranks};
  const auto ring = make_topology("ring", ranks);
  EXPECT_EQ(gossip_cost(query, *ring, 0, {Shape::of(3, DType::f32), Shape::of(1, DType::f32)}), (Cost{1, 2 * 16}));
  // With all_nics of nodes of two the second rank has no part of the scalar, and still takes part in the round.
  query.hierarchy = Hierarchy::all_nics;
  query.place = {.rank = 3, .ranks = ranks, .node = 1, .nodes = 4, .local_rank = 1, .node_size = 2};
  const auto nodes = make_topology("ring", 4);
  const Cost inside = reduce_scatter_cost(2, 1, 3, 4) + all_gather_cost(2, 1, 3, 4) + reduce_scatter_cost(2, 1, 1, 4) +
                      all_gather_cost(2, 1, 1, 4);
  EXPECT_EQ(gossip_cost(query, *nodes, 0, {Shape::of(3, DType::f32), Shape::of(1, DType::f32)}),
            (inside + Cost{1, 2 * 4}));
}

TEST(Gossip, KeepsTheSumOnAColumnStochasticGraphAndPushSumFindsTheMean) {
  constexpr float mean = 8 * (ranks - 1) / 2.0F;
  for (const int rounds : {1, 5, 100}) {
    const auto values = gossiped("chorded_ring", rounds, true);
    float sum = 0, weight = 0;
    for (const std::vector<float>& rank : values) {
      sum += rank[0];
      weight += rank[3];
    }
    EXPECT_NEAR(sum, ranks * mean, 2e-3) << rounds;
    EXPECT_NEAR(weight, ranks, 1e-4) << rounds;
  }
  const auto values = gossiped("chorded_ring", 100, true);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const float share = rank % 2 == 0 ? 1.2F : 0.8F;
    EXPECT_NEAR(values[rank][0], share * mean, 1e-3) << "mixing alone ends elsewhere";
    EXPECT_NEAR(values[rank][3], share, 2e-5);
    EXPECT_NEAR(values[rank][0] / values[rank][3], mean, 1e-4);
  }
}

}  // namespace
}  // namespace trigram::gossip_test
