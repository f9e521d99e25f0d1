// PowerSGD against loops of its own in f64, where it is exact, what its error feedback keeps, and what it sends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "core/values/error.hpp"
#include "core/values/random.hpp"
#include "tests/algorithms/script.hpp"
#include "tests/algorithms/worlds.hpp"

namespace trigram::testing::power_sgd_test {
namespace {

using Values = std::vector<double>;

/// Two matrices, one of them a convolution's, and a vector between them.
const std::vector<Dimensions> shapes = {{4, 6}, {7}, {3, 2, 2}};
constexpr std::int64_t elements = 24 + 7 + 12;
constexpr std::uint64_t seed = 5;

double uneven(std::int64_t step, int rank, std::int64_t element) {
  return std::sin(1.3 * static_cast<double>(step) + 0.9 * rank + 0.37 * static_cast<double>(element * element));
}

using Gradient = std::function<double(std::int64_t step, int rank, std::int64_t element)>;

void play_gradients(const Gradient& gradient) {
  Script script;
  script.layers = {24, 7, 12};
  script.dimensions = shapes;
  script.gradient = [gradient](std::int64_t step, int rank, std::int64_t element, float) {
    return static_cast<float>(gradient(step, rank, element));
  };
  play(script);
}

/// All tensors in one bucket.
std::vector<std::vector<float>> trained(const std::string& algorithm, int ranks, std::int64_t steps) {
  TrainingOptions options = scripted(algorithm, steps);
  options.buckets.bytes = 1 << 20;
  options.relaxation.seed = seed;
  return weights_of(train_on(threads(2), ranks, options));
}

/// One matrix of the bucket, on all ranks; all row-major.
struct Reference {
  std::int64_t first, rows, columns, rank;  ///< `first` counts through the model
  Values q;                                 ///< columns × rank
  std::vector<Values> errors = {};          ///< of each rank

  /// −γ times what all ranks apply goes to `weights`.
  void step(std::int64_t now, int ranks, const Gradient& gradient, Values& weights) {
    errors.resize(static_cast<std::size_t>(ranks), Values(static_cast<std::size_t>(rows * columns)));
    Values mean(errors[0].size());
    for (int r = 0; r < ranks; ++r) {
      Values& matrix = errors[static_cast<std::size_t>(r)];
      for (std::size_t i = 0; i < matrix.size(); ++i) {
        matrix[i] += gradient(now, r, first + static_cast<std::int64_t>(i));
        mean[i] += matrix[i] / ranks;
      }
    }
    const auto at = [&](std::int64_t row, std::int64_t column) { return mean[index(row, column, columns)]; };
    Values p(static_cast<std::size_t>(rows * rank));
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t k = 0; k < rank; ++k) {
        for (std::int64_t c = 0; c < columns; ++c) p[index(row, k, rank)] += at(row, c) * q[index(c, k, rank)];
      }
    }
    orthonormalise(p);
    q.assign(q.size(), 0);
    for (std::int64_t c = 0; c < columns; ++c) {
      for (std::int64_t k = 0; k < rank; ++k) {
        for (std::int64_t row = 0; row < rows; ++row) q[index(c, k, rank)] += at(row, c) * p[index(row, k, rank)];
      }
    }
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t c = 0; c < columns; ++c) {
        double product = 0;
        for (std::int64_t k = 0; k < rank; ++k) product += p[index(row, k, rank)] * q[index(c, k, rank)];
        for (Values& error : errors) error[index(row, c, columns)] -= product;
        weights[static_cast<std::size_t>(first) + index(row, c, columns)] -= 0.125 * product;
      }
    }
  }

 private:
  static std::size_t index(std::int64_t row, std::int64_t column, std::int64_t width) {
    return static_cast<std::size_t>(row * width + column);
  }
  void orthonormalise(Values& p) const {
    for (std::int64_t k = 0; k < rank; ++k) {
      for (std::int64_t before = 0; before < k; ++before) {
        double along = 0;
        for (std::int64_t row = 0; row < rows; ++row) along += p[index(row, before, rank)] * p[index(row, k, rank)];
        for (std::int64_t row = 0; row < rows; ++row) p[index(row, k, rank)] -= along * p[index(row, before, rank)];
      }
      double squared = 0;
      for (std::int64_t row = 0; row < rows; ++row) squared += p[index(row, k, rank)] * p[index(row, k, rank)];
      for (std::int64_t row = 0; row < rows; ++row) p[index(row, k, rank)] /= std::sqrt(squared);
    }
  }
};

/// x with Φ(x) = (word + ½)/2³².
double normal(std::uint32_t word) {
  double low = -10, high = 10;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (std::erfc(-middle / std::numbers::sqrt2) / 2 < (word + 0.5) * 0x1p-32 ? low : high) = middle;
  }
  return low;
}

/// The last tensor comes first in the bucket, and Q of all matrices is one draw.
std::vector<Reference> references(std::int64_t most) {
  std::vector<Reference> all = {{31, 3, 4, std::min<std::int64_t>(most, 3), {}},
                                {0, 4, 6, std::min<std::int64_t>(most, 4), {}}};
  const Philox words({.seed = seed, .phase = Phase::algorithm});
  std::uint64_t next = 0;
  for (Reference& one : all) {
    for (std::int64_t i = 0; i < one.columns * one.rank; ++i) one.q.push_back(normal(words.bits(next++)));
  }
  return all;
}

void expect_near(const std::vector<float>& found, const Values& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], tolerance) << "weight " << i;
}

TEST(PowerSgd, FollowsTheSameLoopsWrittenPlainly) {
  constexpr std::int64_t steps = 6;
  play_gradients(uneven);
  for (const int ranks : {2, 3}) {
    for (const std::int64_t rank : {1, 2}) {
      SCOPED_TRACE(std::to_string(ranks) + " ranks, rank " + std::to_string(rank));
      Values weights(elements);
      std::vector<Reference> matrices = references(rank);
      for (std::int64_t step = 0; step < steps; ++step) {
        for (Reference& matrix : matrices) matrix.step(step, ranks, uneven, weights);
        for (std::int64_t i = 24; i < 31; ++i) {
          for (int r = 0; r < ranks; ++r) weights[static_cast<std::size_t>(i)] -= 0.125 * uneven(step, r, i) / ranks;
        }
      }
      const auto found = trained("power_sgd:rank=" + std::to_string(rank), ranks, steps);
      expect_near(found[0], weights, 1e-5);
      for (const auto& replica : found) EXPECT_EQ(replica, found[0]);
    }
  }
}

/// −γ Σ_t mean_j g_{j,t}.
Values descended(std::int64_t steps, int ranks, const Gradient& gradient) {
  Values weights(elements);
  for (std::int64_t step = 0; step < steps; ++step) {
    for (int r = 0; r < ranks; ++r) {
      for (std::int64_t i = 0; i < elements; ++i)
        weights[static_cast<std::size_t>(i)] -= 0.125 * static_cast<float>(gradient(step, r, i)) / ranks;
    }
  }
  return weights;
}

double distance(const std::vector<float>& found, const Values& expected) {
  double sum = 0;
  for (std::size_t i = 0; i < found.size(); ++i) sum += std::pow(found[i] - expected[i], 2);
  return std::sqrt(sum);
}

TEST(PowerSgd, IsExactAtFullRank) {
  play_gradients(uneven);
  EXPECT_LT(distance(trained("power_sgd:rank=4", 3, 5)[0], descended(5, 3, uneven)), 1e-5);
  EXPECT_LT(distance(trained("power_sgd:rank=1000", 3, 5)[0], descended(5, 3, uneven)), 1e-5);
  EXPECT_GT(distance(trained("power_sgd:rank=1", 3, 5)[0], descended(5, 3, uneven)), 1e-2);
}

TEST(PowerSgd, IsExactOnMatricesOfItsRank) {
  // Every rank has its own multiple of one outer product, whose left factor changes.
  const auto outer = [](std::int64_t step, int rank, std::int64_t element) {
    const std::int64_t i = element < 31 ? element : element - 31, columns = element < 31 ? 6 : 4;
    return (1 + rank) * std::cos(static_cast<double>(step + i / columns)) *
           std::sin(2.0 + static_cast<double>(i % columns));
  };
  play_gradients(outer);
  EXPECT_LT(distance(trained("power_sgd:rank=1", 3, 4)[0], descended(4, 3, outer)), 1e-5);
}

TEST(PowerSgd, LosesNothingThatItDoesNotSendAtOnce) {
  // Without gradients the mean error, of rank 4 at most, loses one rank a step: Σ out + mean e = Σ mean g ends at e =
  // 0.
  constexpr std::int64_t busy = 4;
  const auto then_silent = [](std::int64_t step, int rank, std::int64_t element) {
    return step < busy ? uneven(step, rank, element) : 0.0;
  };
  play_gradients(then_silent);
  EXPECT_GT(distance(trained("power_sgd:rank=1", 3, busy)[0], descended(busy, 3, then_silent)), 1e-2);
  EXPECT_LT(distance(trained("power_sgd:rank=1", 3, busy + 4)[0], descended(busy, 3, then_silent)), 1e-5);
}

TEST(PowerSgd, RecoversFromStepsWithoutAGradient) {
  // Q is zero after such a step; columns that depend on others are replaced, so that the next one finds something.
  const auto late = [](std::int64_t step, int rank, std::int64_t element) {
    return step >= 2 && step < 4 ? uneven(step, rank, element) : 0.0;
  };
  play_gradients(late);
  EXPECT_LT(distance(trained("power_sgd:rank=2", 2, 8)[0], descended(4, 2, late)), 1e-5);
}

TEST(PowerSgd, RefusesWorkloadsWithoutMatrices) {
  TrainingOptions options = scripted("power_sgd", 1);
  for (const char* workload : {"quadratic", "scripted"}) {
    play({});
    options.workload = workload;
    EXPECT_THAT([&] { train_on(threads(2), 2, options); },
                ::testing::ThrowsMessage<UsageError>(::testing::HasSubstr("column 'dimensions'")));
  }
}

TEST(PowerSgd, SendsThinMatricesOfTheModelledSizes) {
  // Over all ranks 2(n−1) times 4 bytes for r (rows + columns) of each matrix and for each vector of VGG16.
  TrainingOptions options = scripted("power_sgd:rank=4", 2);
  options.workload = "on_profile:model=(mlp:hidden=12),profile=vgg16";
  options.buckets.bytes = 10 << 20;
  const std::int64_t in[] = {3, 64, 64, 128, 128, 256, 256, 256, 512, 512, 512, 512, 512};
  const std::int64_t out[] = {64, 64, 128, 128, 256, 256, 256, 512, 512, 512, 512, 512, 512};
  std::int64_t sent = 4 * (4096 + 25088 + 4096 + 4096 + 1000 + 4096) + 4096 + 4096 + 1000;
  for (std::size_t i = 0; i < std::size(in); ++i) sent += 4 * (out[i] + 9 * in[i]) + out[i];
  std::int64_t declared = 0;
  for (int rank = 0; rank < 4; ++rank) declared += declared_cost(threads(2), 4, options, rank, 0).bytes;
  EXPECT_EQ(declared, 2 * 3 * 4 * sent);
  for (const char* fidelity : {"exact", "fluid"}) {
    for (const Hierarchy hierarchy : {Hierarchy::none, Hierarchy::leader, Hierarchy::all_nics}) {
      options.relaxation.hierarchy = hierarchy;
      for (const RankReport& rank : train_on(simulator(2, fidelity), 4, options).ranks) {
        EXPECT_EQ(rank.cost_by_step[1], declared_cost(simulator(2, fidelity), 4, options, rank.rank, 1));
      }
    }
  }
}

}  // namespace
}  // namespace trigram::testing::power_sgd_test
