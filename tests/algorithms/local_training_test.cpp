// Methods whose ranks train alone between exchanges, beside the papers' formulas in double precision.
#include "tests/algorithms/recomputed.hpp"

namespace trigram::testing::local_training_test {
namespace {

using namespace recomputed;

constexpr std::int64_t steps = 12;

class LocalTraining : public ::testing::TestWithParam<int> {};

TEST_P(LocalTraining, PostLocalSgdAveragesEveryStepAtFirst) {
  play_rough(true);
  Vectors x = initial(GetParam());
  for (std::int64_t step = 0; step < steps; ++step) {
    x = combined(1, x, -rate, gradients(step, x, true));
    if (step < 5 || step % 4 == 3) x = averaged(x);
  }
  expect_recomputed(trained("post_local_sgd:warmup=5,every=4", GetParam(), steps), x, "post_local_sgd");
}

TEST_P(LocalTraining, ScaffoldStepsByItsControlVariates) {
  // y_j ← y_j − γ (g_j − c_j + c); c_j⁺ = c_j − c + (x − y_j)/(Kγ); x ← mean y_j; c ← mean c_j⁺.
  play_rough(true);
  const int ranks = GetParam();
  Vectors y = initial(ranks), begin = y, own = zeros(ranks), common = zeros(ranks);
  for (std::int64_t step = 0; step < steps; ++step) {
    const Vectors corrected = combined(1, gradients(step, y, true), 1, combined(1, common, -1, own));
    y = combined(1, y, -rate, corrected);
    if (step % 3 != 2) continue;
    own = combined(1, combined(1, own, -1, common), 1 / (3 * rate), combined(1, begin, -1, y));
    common = averaged(own);
    begin = y = averaged(y);
  }
  expect_recomputed(trained("scaffold:every=3", ranks, steps), y, "scaffold");
}

/// γ m/(1 − β₁ᵗ) / (√(v/(1 − β₂ᵗ)) + ε)
double adam_step(double m, double v, std::int64_t t) {
  const auto exponent = static_cast<double>(t);
  return rate * m / (1 - std::pow(0.9, exponent)) / (std::sqrt(v / (1 - std::pow(0.999, exponent))) + 1e-8);
}

TEST_P(LocalTraining, LocalAdamAveragesMomentsWithWeights) {
  for (const bool moments : {true, false}) {
    play_rough(true);
    Vectors x = initial(GetParam()), m = zeros(GetParam()), v = m;
    for (std::int64_t step = 0; step < steps; ++step) {
      const Vectors g = gradients(step, x, true);
      m = combined(0.9, m, 0.1, g);
      for (std::size_t rank = 0; rank < x.size(); ++rank) {
        for (std::size_t i = 0; i < x[rank].size(); ++i) {
          v[rank][i] = 0.999 * v[rank][i] + 0.001 * g[rank][i] * g[rank][i];
          x[rank][i] -= adam_step(m[rank][i], v[rank][i], step + 1);
        }
      }
      if (step % 3 != 2) continue;
      x = averaged(x);
      if (moments) m = averaged(m), v = averaged(v);
    }
    const std::string algorithm = std::string("local_adam:every=3,moments=") + (moments ? "on" : "off");
    expect_recomputed(trained(algorithm, GetParam(), steps), x, algorithm, 1e-4);
  }
}

TEST_P(LocalTraining, ZeroOneAdamStepsAloneByAFrozenSecondMoment) {
  // Three steps of Adam, an exchange after each of three more, then after every second one.
  play_rough(true);
  Vectors x = initial(GetParam()), begin = x, m = zeros(GetParam()), v = m, u = m;
  double rates = 0;
  for (std::int64_t step = 0; step < steps; ++step) {
    const bool learns = step < 3, exchanges = step < 6 || step % 2 == 1;
    Vectors g = gradients(step, x, true);
    if (learns) g = averaged(g);
    m = combined(0.9, m, 0.1, g);
    const double own_rate = rate / (1 - std::pow(0.9, static_cast<double>(step + 1)));
    rates += own_rate;
    u = combined(1, u, own_rate, m);
    if (exchanges) u = averaged(u);
    if (exchanges) m = combined(1 / rates, u, 0, u);
    for (std::size_t rank = 0; rank < x.size(); ++rank) {
      for (std::size_t i = 0; i < x[rank].size(); ++i) {
        if (learns) v[rank][i] = 0.999 * v[rank][i] + 0.001 * g[rank][i] * g[rank][i];
        const double filled = 1 - std::pow(0.999, static_cast<double>(std::min<std::int64_t>(step + 1, 3)));
        x[rank][i] = begin[rank][i] - u[rank][i] / (std::sqrt(v[rank][i] / filled) + 1e-8);
      }
    }
    if (!exchanges) continue;
    begin = x;
    u = zeros(GetParam());
    rates = 0;
  }
  expect_recomputed(trained("zero_one_adam:freeze=3,double_every=3,most_local=2,codec=identity", GetParam(), steps), x,
                    "zero_one_adam", 1e-4);
}

TEST_P(LocalTraining, SparseLoCoSendsTheLargestOfWhatFadesElse) {
  // e ← β e + (x_begin − x); D = C(e); e ← e − D; x ← x_begin − α mean D.
  play_rough(true);
  Vectors x = initial(GetParam()), begin = x, e = zeros(GetParam());
  for (std::int64_t step = 0; step < steps; ++step) {
    x = combined(1, x, -rate, gradients(step, x, true));
    if (step % 2 == 0) continue;
    e = combined(0.5, e, 1, combined(1, begin, -1, x));
    const Vectors sent = compressed(two_largest, e);
    e = combined(1, e, -1, sent);
    begin = x = combined(1, begin, -0.75, averaged(sent));
  }
  expect_recomputed(trained("sparse_loco:every=2,codec=(top_k:k=2),error_decay=0.5,outer_lr=0.75", GetParam(), steps),
                    x, "sparse_loco");
}

TEST_P(LocalTraining, NoLoCoDrawsSlowWeightsTogether) {
  // δ ← μ δ − β W(φ − x) − η (φ − W φ); φ ← φ + δ; x ← φ.
  play_rough(true);
  const Vectors rows = ring(GetParam());
  Vectors x = initial(GetParam()), slow = x, move = zeros(GetParam());
  for (std::int64_t step = 0; step < steps; ++step) {
    x = combined(1, x, -rate, gradients(step, x, true));
    if (step % 2 == 0) continue;
    const Vectors learned = mixed(rows, combined(1, slow, -1, x)), apart = combined(1, slow, -1, mixed(rows, slow));
    move = combined(0.5, move, -1, combined(0.7, learned, 0.9, apart));
    slow = x = combined(1, slow, 1, move);
  }
  expect_recomputed(trained("no_loco:every=2,topology=ring,pull=0.9", GetParam(), steps), x, "no_loco");
}

TEST_P(LocalTraining, StreamingDiLoCoMixesItsBucketsInTurns) {
  // Two layers, each a bucket; the last one is the first bucket. Every 4 steps, two apart, with outer momentum 1/2.
  const std::vector<std::int64_t> layers{3, 4};
  play_rough(true, layers);
  Vectors x = initial(GetParam()), begin = x, velocity = zeros(GetParam());
  for (std::int64_t step = 0; step < steps; ++step) {
    const Vectors went = averaged(combined(1, begin, -1, x));
    x = combined(1, x, -rate, gradients(step, x, true));
    for (std::size_t i = 0; i < 7; ++i) {
      const std::int64_t turn = i < 3 ? 2 : 0;
      if (step == 0 || (step + turn) % 4 != 0) continue;
      for (std::size_t rank = 0; rank < x.size(); ++rank) {
        velocity[rank][i] = 0.5 * velocity[rank][i] + went[rank][i];
        begin[rank][i] -= 0.7 * velocity[rank][i];
        x[rank][i] = 0.25 * x[rank][i] + 0.75 * begin[rank][i];
      }
    }
  }
  expect_recomputed(trained("streaming_diloco:every=4,keep=0.25,outer=(momentum:momentum=0.5)", GetParam(), steps, 0),
                    x, "streaming_diloco");
}

TEST_P(LocalTraining, FederatedAveragingTakesTheMeanOfARoundsRanksAndOfAllInTurn) {
  // With 1 step a round, the weights after a round are the mean of some ranks' steps from those before it.
  play_rough(false);
  const int ranks = GetParam(), most = (ranks + 1) / 2, rounds = (ranks + most - 1) / most;
  std::vector<int> seen(static_cast<std::size_t>(ranks), 0);
  Vectors before = initial(ranks);
  for (std::int64_t round = 0; round < rounds; ++round) {
    const auto after = trained("fedavg:every=1,participation=0.5", ranks, round + 1);
    const Vectors stepped = combined(1, before, -rate, gradients(round, before, false));
    int found = 0;
    for (unsigned cohort = 1; cohort < 1U << static_cast<unsigned>(ranks); ++cohort) {
      Vector mean(elements, 0.0);
      for (std::size_t i = 0; i < mean.size(); ++i) {
        for (int rank = 0; rank < ranks; ++rank) {
          if ((cohort >> static_cast<unsigned>(rank) & 1U) != 0)
            mean[i] += stepped[static_cast<std::size_t>(rank)][i] / __builtin_popcount(cohort);
        }
      }
      double apart = 0;
      for (std::size_t i = 0; i < mean.size(); ++i) apart = std::max(apart, std::abs(mean[i] - after[0][i]));
      if (apart > 1e-5) continue;
      ++found;
      EXPECT_LE(__builtin_popcount(cohort), most);
      for (int rank = 0; rank < ranks; ++rank)
        seen[static_cast<std::size_t>(rank)] += static_cast<int>(cohort >> static_cast<unsigned>(rank) & 1U);
      before = Vectors(static_cast<std::size_t>(ranks), mean);
    }
    ASSERT_EQ(found, 1) << "round " << round;
  }
  EXPECT_EQ(seen, std::vector<int>(static_cast<std::size_t>(ranks), 1));
}

INSTANTIATE_TEST_SUITE_P(Worlds, LocalTraining, ::testing::Values(2, 3, 4));

TEST(FederatedAveraging, OfAllRanksIsLocalSgdBitForBit) {
  play_rough(true);
  EXPECT_EQ(trained("fedavg:participation=1,every=4", 4, 8), trained("local_sgd:every=4", 4, 8));
}

TEST(ZeroOneAdam, LearnsAsAdamOnMeanGradients) {
  play_rough(true);
  const auto own = trained("zero_one_adam:freeze=12", 4, 12), warm = trained("one_bit_adam:warmup=12", 4, 12);
  for (std::size_t i = 0; i < own[0].size(); ++i) EXPECT_NEAR(own[0][i], warm[0][i], 1e-5) << i;
}

TEST(NoLoCo, OfAllRanksIsDiLoCoWithItsMomentum) {
  // Slow weights stay equal, so that nothing pulls them.
  play_rough(true);
  const auto all = trained("diloco:every=3,outer=(momentum:momentum=0.5),outer_lr=0.7", 4, 12);
  const auto own = trained("no_loco:every=3,topology=complete", 4, 12);
  for (std::size_t i = 0; i < all[0].size(); ++i) EXPECT_NEAR(own[0][i], all[0][i], 4e-6) << i;
}

TEST(Heterogeneity, IsNothingToScaffoldAndBendsLocalSgd) {
  // ½ a_j (x − c_j)², a = 1/4 + j/8 and c = 10 j: least at Σ a c / Σ a. Without noise SCAFFOLD ends there.
  constexpr int ranks = 4;
  Script script;
  script.layers = {3};
  script.gradient = [](std::int64_t, int rank, std::int64_t, float weight) {
    return static_cast<float>(curvature(rank) * (static_cast<double>(weight) - 10.0 * rank));
  };
  double pulled = 0, stiff = 0;
  for (int rank = 0; rank < ranks; ++rank) pulled += curvature(rank) * 10.0 * rank, stiff += curvature(rank);
  play(script);
  EXPECT_NEAR(trained("scaffold:every=8", ranks, 800)[0][0], pulled / stiff, 1e-4);
  EXPECT_GT(std::abs(trained("local_sgd:every=8", ranks, 800)[0][0] - pulled / stiff), 0.1);
}

}  // namespace
}  // namespace trigram::testing::local_training_test
