// Gossip methods of the literature, beside the papers' formulas in double precision.
#include "tests/algorithms/recomputed.hpp"

namespace trigram::testing::gossip_family_test {
namespace {

using namespace recomputed;

constexpr std::int64_t steps = 10;

class GossipFamily : public ::testing::TestWithParam<int> {};

TEST_P(GossipFamily, DSquaredLooksBackToTheStepBefore) {
  // x_{t+1} = W̃ (2 x_t − x_{t−1} − γ g_t + γ g_{t−1}), W̃ = (I + W)/2.
  play_rough(true);
  const Vectors rows = ring(GetParam());
  Vectors x = initial(GetParam()), before = x, of_before = zeros(GetParam());
  for (std::int64_t step = 0; step < steps; ++step) {
    const Vectors g = gradients(step, x, true);
    const Vectors forward = combined(2, x, -1, before);
    const Vectors y = combined(1, forward, -rate, combined(1, g, -1, of_before));
    before = x;
    of_before = g;
    x = combined(0.5, y, 0.5, mixed(rows, y));
  }
  expect_recomputed(trained("d2", GetParam(), steps), x, "d2");
}

TEST_P(GossipFamily, ChocoMovesTowardsPublicCopies) {
  // q = C(x − x̂); x̂_j ← x̂_j + q_j; x ← x + η Σ_j W_ij (x̂_j − x̂_i). Copies start at the weights, as all know them.
  play_rough(true);
  const Vectors rows = ring(GetParam());
  Vectors x = initial(GetParam()), copies = x;
  for (std::int64_t step = 0; step < steps; ++step) {
    x = combined(1, x, -rate, gradients(step, x, true));
    copies = combined(1, copies, 1, compressed(two_largest, combined(1, x, -1, copies)));
    x = combined(1, x, 0.3, combined(1, mixed(rows, copies), -1, copies));
  }
  expect_recomputed(trained("choco_sgd:codec=(top_k:k=2),step_size=0.3", GetParam(), steps), x, "choco_sgd");
}

TEST_P(GossipFamily, ChocoWithExactMessagesAdaptsThenCombines) {
  play_rough(true);
  const auto choco = trained("choco_sgd:codec=identity,step_size=1", GetParam(), steps);
  const auto plain = trained("adapt_then_combine", GetParam(), steps);
  for (std::size_t rank = 0; rank < choco.size(); ++rank) {
    for (std::size_t i = 0; i < choco[rank].size(); ++i) EXPECT_NEAR(choco[rank][i], plain[rank][i], 1e-5);
  }
}

TEST_P(GossipFamily, GossipPgaAveragesNowAndThen) {
  play_rough(true);
  Vectors x = initial(GetParam());
  for (std::int64_t step = 0; step < steps; ++step) {
    x = combined(1, x, -rate, gradients(step, x, true));
    x = step % 4 == 3 ? averaged(x) : mixed(ring(GetParam()), x);
  }
  expect_recomputed(trained("gossip_pga:average_every=4", GetParam(), steps), x, "gossip_pga");
}

INSTANTIATE_TEST_SUITE_P(Worlds, GossipFamily, ::testing::Values(3, 4, 7));

TEST(Heterogeneity, IsNothingToDSquared) {
  // ½ (x − 10 j)²: least at 35 for eight ranks, where each of them ends.
  Script script;
  script.layers = {3};
  script.gradient = [](std::int64_t, int rank, std::int64_t, float weight) {
    return weight - 10.0F * static_cast<float>(rank);
  };
  play(script);
  // Weights that are no dyadic numbers sum to 1 up to rounding only, which nothing takes back.
  for (const auto& [topology, near] :
       {std::pair{"hypercube", 1e-4}, std::pair{"ring", 0.02}, std::pair{"torus", 0.02}}) {
    for (const auto& weights : trained(std::string("d2:topology=") + topology, 8, 600))
      EXPECT_NEAR(weights[0], 35, near) << topology;
  }
}

TEST(DSquared, RefusesGraphsThatChange) {
  play_rough(false);
  EXPECT_THROW(trained("d2:topology=random_matching", 4, 1), UsageError);
  EXPECT_THROW(trained("choco_sgd:topology=one_peer_exponential", 4, 1), UsageError);
}

}  // namespace
}  // namespace trigram::testing::gossip_family_test
