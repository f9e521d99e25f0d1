// Methods that send gradients in few bits, or late, beside the papers' formulas in double precision.
#include "tests/algorithms/recomputed.hpp"

namespace trigram::testing::compressed_gradients_test {
namespace {

using namespace recomputed;

constexpr std::int64_t steps = 9;

class CompressedGradients : public ::testing::TestWithParam<int> {};

/// p = g + e; D = C(p); x ← x − γ mean D; e = p − D.
Vectors with_error_feedback(const Compressor& compressor, int ranks) {
  Vectors x = initial(ranks), e = zeros(ranks);
  for (std::int64_t step = 0; step < steps; ++step) {
    const Vectors p = combined(1, gradients(step, x, true), 1, e);
    const Vectors sent = compressed(compressor, p);
    x = combined(1, x, -rate, averaged(sent));
    e = combined(1, p, -1, sent);
  }
  return x;
}

TEST_P(CompressedGradients, ErrorFeedbackSendsLaterWhatWasLeftOut) {
  play_rough(true);
  expect_recomputed(trained("ef_sgd", GetParam(), steps), with_error_feedback(scaled_sign, GetParam()), "ef_sgd");
  expect_recomputed(trained("top_k_sgd:codec=(top_k:k=2)", GetParam(), steps),
                    with_error_feedback(two_largest, GetParam()), "top_k_sgd");
}

/// The mean of the elements from 0 on, and of those below.
Vector side_means(const Vector& x) {
  double sums[2] = {}, counts[2] = {};
  for (const double value : x) sums[value < 0 ? 1 : 0] += value, counts[value < 0 ? 1 : 0] += 1;
  Vector means = x;
  for (double& value : means) value = value < 0 ? sums[1] / counts[1] : sums[0] / counts[0];
  return means;
}

TEST_P(CompressedGradients, OneBitSgdRebuildsEachSignByTheMeanOfItsSide) {
  play_rough(true);
  expect_recomputed(trained("one_bit_sgd", GetParam(), steps), with_error_feedback(side_means, GetParam()),
                    "one_bit_sgd");
}

TEST_P(CompressedGradients, SignSgdMovesByTheVoteOfTheMajority) {
  // x ← x − γ sign Σ_j sign g_j, 1 where votes are split.
  play_rough(false);
  const int ranks = GetParam();
  Vectors x = initial(ranks);
  const auto sign = [](const Vector& g) {
    Vector signs = g;
    for (double& value : signs) value = value < 0 ? -1 : 1;
    return signs;
  };
  for (std::int64_t step = 0; step < steps; ++step)
    x = combined(1, x, -rate, compressed(sign, averaged(compressed(sign, gradients(step, x, false)))));
  expect_recomputed(trained("signsgd_majority", ranks, steps), x, "signsgd_majority");
}

TEST_P(CompressedGradients, Ef21MovesByTheMeanOfItsEstimates) {
  // G_j ← G_j + C(g_j − G_j); x ← x − γ mean G_j.
  play_rough(true);
  Vectors x = initial(GetParam()), estimates = zeros(GetParam());
  for (std::int64_t step = 0; step < steps; ++step) {
    const Vectors off = combined(1, gradients(step, x, true), -1, estimates);
    estimates = combined(1, estimates, 1, compressed(two_largest, off));
    x = combined(1, x, -rate, averaged(estimates));
  }
  expect_recomputed(trained("ef21:codec=(top_k:k=2)", GetParam(), steps), x, "ef21");
}

TEST_P(CompressedGradients, DianaMovesByTheMeanEstimateAndTheMeanDifference) {
  // c_j = Q(g_j − h_j); x ← x − γ (mean h + mean c); h_j ← h_j + α c_j.
  play_rough(true);
  Vectors x = initial(GetParam()), h = zeros(GetParam());
  for (std::int64_t step = 0; step < steps; ++step) {
    const Vectors sent = compressed(scaled_sign, combined(1, gradients(step, x, true), -1, h));
    x = combined(1, x, -rate, averaged(combined(1, h, 1, sent)));
    h = combined(1, h, 0.25, sent);
  }
  expect_recomputed(trained("diana:codec=one_bit,memory_rate=0.25", GetParam(), steps), x, "diana");
}

TEST_P(CompressedGradients, DgcForgetsWhatItSent) {
  // u ← m u + g; v ← v + u; x ← x − γ mean C(v); u and v are 0 where C(v) is not.
  play_rough(true);
  Vectors x = initial(GetParam()), u = zeros(GetParam()), v = u;
  for (std::int64_t step = 0; step < steps; ++step) {
    u = combined(0.5, u, 1, gradients(step, x, true));
    v = combined(1, v, 1, u);
    const Vectors sent = compressed(two_largest, v);
    x = combined(1, x, -rate, averaged(sent));
    for (std::size_t rank = 0; rank < x.size(); ++rank) {
      for (std::size_t i = 0; i < elements; ++i) {
        if (sent[rank][i] != 0) u[rank][i] = v[rank][i] = 0;
      }
    }
  }
  // Two of seven elements are more than 1/7 and at most 2/7 of them.
  expect_recomputed(trained("dgc:fraction=0.25,momentum=0.5", GetParam(), steps), x, "dgc");
}

/// Σ_i s_f x_i cos(π (2i + 1) f/(2c)) of each chunk of c, s_0 = √(1/c), else √(2/c); or the way back.
Vector cosine_transform(const Vector& x, std::size_t chunk, bool back) {
  Vector result(x.size(), 0.0);
  const auto size = static_cast<double>(chunk);
  for (std::size_t begin = 0; begin < x.size(); begin += chunk) {
    for (std::size_t f = 0; f < chunk; ++f) {
      for (std::size_t i = 0; i < chunk; ++i) {
        const double wave = std::cos(M_PI * static_cast<double>((2 * i + 1) * f) / (2 * size));
        const double entry = std::sqrt((f == 0 ? 1 : 2) / size) * wave;
        if (back) result[begin + i] += entry * x[begin + f];
        if (!back) result[begin + f] += entry * x[begin + i];
      }
    }
  }
  return result;
}

TEST_P(CompressedGradients, DeMoStepsByTheSignOfTheLargestFrequencies) {
  // δ ← β δ + γ g; q = the two largest frequencies of each chunk of four of δ; δ ← δ − IDCT(q);
  // x ← x − γ sign IDCT(the mean of each frequency over those who sent it).
  play_rough(true);
  constexpr std::size_t chunk = 4, padded = 8;
  Vectors x = initial(GetParam()), delta = zeros(GetParam(), padded);
  for (std::int64_t step = 0; step < steps; ++step) {
    const Vectors g = gradients(step, x, true);
    Vector sum(padded, 0.0), senders(padded, 0.0);
    for (std::size_t rank = 0; rank < x.size(); ++rank) {
      for (std::size_t i = 0; i < padded; ++i)
        delta[rank][i] = 0.9 * delta[rank][i] + (i < elements ? rate * g[rank][i] : 0);
      const Vector frequencies = cosine_transform(delta[rank], chunk, false);
      Vector sent(padded, 0.0);
      for (const std::size_t begin : {0U, 4U}) {
        const auto first = frequencies.begin() + static_cast<std::ptrdiff_t>(begin);
        const Vector kept = two_largest(Vector(first, first + chunk));
        for (std::size_t f = 0; f < chunk; ++f) {
          sent[begin + f] = kept[f];
          sum[begin + f] += kept[f];
          senders[begin + f] += kept[f] != 0 ? 1 : 0;
        }
      }
      const Vector gone = cosine_transform(sent, chunk, true);
      for (std::size_t i = 0; i < padded; ++i) delta[rank][i] -= gone[i];
    }
    for (std::size_t f = 0; f < padded; ++f) sum[f] /= std::max(senders[f], 1.0);
    const Vector direction = cosine_transform(sum, chunk, true);
    for (Vector& of_rank : x) {
      for (std::size_t i = 0; i < elements; ++i) of_rank[i] -= rate * (direction[i] < 0 ? -1 : 1);
    }
  }
  expect_recomputed(trained("demo:chunk=4,k=2,decay=0.9", GetParam(), steps), x, "demo");
}

TEST_P(CompressedGradients, DelayedSgdAppliesGradientsLate) {
  for (const std::int64_t delay : {1, 3}) {
    play_rough(true);
    Vectors x = initial(GetParam());
    std::vector<Vectors> waiting;
    for (std::int64_t step = 0; step < steps; ++step) {
      waiting.push_back(averaged(gradients(step, x, true)));
      if (step >= delay) x = combined(1, x, -rate, waiting[static_cast<std::size_t>(step - delay)]);
    }
    expect_recomputed(trained("delayed_sgd:delay=" + std::to_string(delay), GetParam(), steps), x, "delayed_sgd");
  }
}

INSTANTIATE_TEST_SUITE_P(Worlds, CompressedGradients, ::testing::Values(2, 3, 4));

TEST(Diana, WithTheIdentityCodecIsDataParallelSgd) {
  play_rough(true);
  const auto expected = trained("all_reduce", 4, steps);
  for (const char* memory : {"0.5", "1"}) {
    const auto weights = trained(std::string("diana:codec=identity,memory_rate=") + memory, 4, steps);
    for (std::size_t i = 0; i < expected[0].size(); ++i) EXPECT_NEAR(weights[0][i], expected[0][i], 4e-6) << memory;
  }
}

TEST(Dgc, ThatSendsAllIsPlainSgd) {
  // What was sent has no momentum left.
  play_rough(true);
  const auto expected = trained("all_reduce", 4, steps), weights = trained("dgc:fraction=1", 4, steps);
  for (std::size_t i = 0; i < expected[0].size(); ++i) EXPECT_NEAR(weights[0][i], expected[0][i], 4e-6);
}

TEST(Diana, RefusesARateThatItsCodecIsTooCoarseFor) {
  play_rough(false);
  try {
    trained("diana:codec=(qsgd:levels=1,bucket_size=0),memory_rate=0.9", 2, 1);
    FAIL() << "it would diverge";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("memory_rate=0.9; take a contraction"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace trigram::testing::compressed_gradients_test
