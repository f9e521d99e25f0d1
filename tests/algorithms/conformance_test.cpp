// What every registered algorithm owes by its trigram, on every backend and for world sizes of all kinds.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <tuple>

#include "core/topology.hpp"
#include "tests/algorithms/script.hpp"
#include "tests/algorithms/worlds.hpp"
#include "tests/support/unsupported.hpp"

namespace trigram::testing {
namespace {

constexpr int ranks_per_node = 2;
constexpr double largest_gradient = 24;
const std::vector<std::int64_t> layers{5, 11, 1, 3};

/// A whole number in [−24, 24] that differs between steps, ranks and elements.
float integer_gradient(std::int64_t step, int rank, std::int64_t element) {
  return static_cast<float>((step * 31 + rank * 17 + element * 7 + rank * element * 5) % 49 - 24);
}

float integer_weight(std::int64_t element) { return static_cast<float>(element % 5 - 2); }

Script integer_script() {
  Script script;
  script.layers = layers;
  script.initial = integer_weight;
  script.gradient = [](std::int64_t step, int rank, std::int64_t element, float) {
    return integer_gradient(step, rank, element);
  };
  return script;
}

using Case = std::tuple<std::string, Place, int>;

class EveryAlgorithm : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (const std::string reason = skip_reason(backend()); !reason.empty()) GTEST_SKIP() << reason;
    play(integer_script());
  }
  const std::string& name() const { return std::get<0>(GetParam()); }
  const std::string& backend() const { return std::get<1>(GetParam()).backend; }
  int ranks() const { return std::get<2>(GetParam()); }
  Trigram trigram() const { return Algorithms::make(name())->trigram(); }
  bool synchronous() const { return trigram().synchrony == Trigram::Synchrony::synchronous; }
  bool centralized() const { return trigram().centrality == Trigram::Centrality::centralized; }
  bool full() const { return trigram().precision == Trigram::Precision::full; }
};

class DecentralizedAlgorithm : public EveryAlgorithm {};

std::vector<std::string> decentralized_algorithms() {
  std::vector<std::string> names;
  for (const std::string& name : Algorithms::names()) {
    if (Algorithms::make(name)->trigram().centrality == Trigram::Centrality::decentralized) names.push_back(name);
  }
  return names;
}

std::string parameter_of(const std::string& algorithm, const std::string& key) {
  for (const auto& declared : Algorithms::parameters(algorithm)) {
    if (declared.key == key) return declared.fallback;
  }
  return {};
}

TEST_P(EveryAlgorithm, ReplicasAreEqualWhereTheyMustBe) {
  constexpr std::int64_t steps = 8;
  const TrainingOptions options = scripted(name(), steps);
  const Training training = train_on(backend(), ranks(), options);
  const std::vector<EvalRow> rows = evaluations(training);
  ASSERT_EQ(rows.size(), static_cast<std::size_t>(steps + 1));
  EXPECT_EQ(rows.front().consensus_distance, 0);
  if (synchronous() && centralized()) {
    for (std::int64_t step = 0; step < steps; ++step) {
      const bool exchanged = declared_cost(backend(), ranks(), options, 0, step).rounds > 0 || ranks() == 1;
      if (exchanged) {
        EXPECT_EQ(rows[static_cast<std::size_t>(step) + 1].consensus_distance, 0) << "after step " << step;
      }
    }
  }
  if (!synchronous()) {
    const auto weights = final_weights(training);
    for (const auto& one : weights) EXPECT_EQ(one, weights.front());
  }
}

TEST_P(DecentralizedAlgorithm, ConsensusContractsByTheSpectralGap) {
  // Ranks drift apart in step 0 and then only mix: ‖X − X̄‖ shrinks by 1 − gap in each step, up to what a codec leaves.
  Script script = integer_script();
  script.gradient = [](std::int64_t step, int rank, std::int64_t element, float) {
    return step == 0 ? integer_gradient(step, rank, element) : 0.0F;
  };
  play(script);
  constexpr std::int64_t steps = 12;
  const std::vector<EvalRow> rows = evaluations(train_on(backend(), ranks(), scripted(name(), steps)));
  const double factor = 1 - spectral_gap(*make_topology(parameter_of(name(), "topology"), ranks()));
  const double apart = rows[1].consensus_distance;
  if (ranks() > 1) {
    EXPECT_GT(apart, 1);
  }
  // Differences shrink with what they encode; 1/50 of the first distance is far above what their codec leaves.
  const double left_by_codec = full() ? 1e-5 : apart / 50;
  for (std::int64_t step = 2; step <= steps; ++step) {
    EXPECT_LE(rows[static_cast<std::size_t>(step)].consensus_distance,
              apart * std::pow(factor, step - 1) + left_by_codec)
        << "after " << step << " steps";
  }
}

TEST_P(EveryAlgorithm, MeanOfWeightsFollowsMeanGradient) {
  // w̄_T = w_0 − γ Σ_t mean_j g_j(t), since these gradients do not depend on weights.
  constexpr std::int64_t steps = 4;
  const TrainingOptions options = scripted(name(), steps);
  const std::vector<double> mean = mean_over_ranks(final_weights(train_on(backend(), ranks(), options)));
  const bool exact = full() && centralized() && std::has_single_bit(static_cast<unsigned>(ranks()));
  // An 8-bit grid over values of at most `span` is off by span/255 at each of two encodings a step; weights of a
  // decentralized method are apart by at most γ·T·largest and so are the differences that it encodes.
  const double span = 2 * largest_gradient * options.learning_rate * (centralized() ? 1 : 1 + steps);
  const double tolerance = exact ? 0 : full() ? 1e-6 * largest_gradient * steps : 2.0 * steps * span / 255;
  for (std::size_t i = 0; i < mean.size(); ++i) {
    const auto element = static_cast<std::int64_t>(i);
    double expected = integer_weight(element);
    for (std::int64_t step = 0; step < steps; ++step) {
      for (int rank = 0; rank < ranks(); ++rank) {
        expected -= options.learning_rate * static_cast<double>(integer_gradient(step, rank, element)) / ranks();
      }
    }
    EXPECT_NEAR(mean[i], expected, tolerance) << "element " << i;
  }
}

TEST_P(EveryAlgorithm, DeclaredCostIsCountedCost) {
  constexpr std::int64_t steps = 5;
  const TrainingOptions options = scripted(name(), steps);
  const Training training = train_on(backend(), ranks(), options);
  std::int64_t averagings_of_first = 0;
  for (const RankReport& report : training.ranks) {
    ASSERT_EQ(report.cost_by_step.size(), static_cast<std::size_t>(steps));
    Cost counted = report.setup_and_finish;
    for (std::int64_t step = 0; step < steps; ++step) {
      const Cost one = report.cost_by_step[static_cast<std::size_t>(step)];
      counted += one;
      if (synchronous()) {
        EXPECT_EQ(one, declared_cost(backend(), ranks(), options, report.rank, step))
            << "rank " << report.rank << ", step " << step;
      }
    }
    if (synchronous()) {
      EXPECT_EQ(report.setup_and_finish, Cost{});
      continue;
    }
    // How many averagings there are is up to the clock; they are whole ones and the same number on every rank.
    const Cost averaging = declared_cost(backend(), ranks(), options, report.rank, 0);
    const std::int64_t averagings = averaging.rounds == 0 ? 0 : counted.rounds / averaging.rounds;
    if (report.rank == 0) averagings_of_first = averagings;
    EXPECT_EQ(averagings, averagings_of_first);
    EXPECT_EQ(counted, (Cost{averagings * averaging.rounds, averagings * averaging.bytes}));
    if (ranks() > 1) {
      EXPECT_GE(averagings, 1);
    }
  }
}

TEST_P(EveryAlgorithm, SameSeedSameBitsAgainWithoutOverlapAndOnEveryBackend) {
  const bool simulated = Backends::make(backend())->simulated();
  const bool deterministic = Algorithms::make(name())->deterministic();
  if (!simulated && !deterministic) GTEST_SKIP() << "depends on timing";
  TrainingOptions options = scripted(name(), 5);
  options.relaxation.seed = 42;
  const Training first = train_on(backend(), ranks(), options);
  const auto weights = final_weights(first);
  const Training second = train_on(backend(), ranks(), options);
  EXPECT_EQ(final_weights(second), weights);
  if (simulated) {
    EXPECT_EQ(second.seconds, first.seconds);
  }
  if (!deterministic) return;
  if (backend() != threads(ranks_per_node)) {
    EXPECT_EQ(final_weights(train_on(threads(ranks_per_node), ranks(), options)), weights);
  }
  options.relaxation.overlap = false;
  EXPECT_EQ(final_weights(train_on(backend(), ranks(), options)), weights);
}

std::string case_name(const ::testing::TestParamInfo<Case>& info) {
  return std::get<0>(info.param) + "_" + std::get<1>(info.param).name + "_on_" +
         std::to_string(std::get<2>(info.param));
}

INSTANTIATE_TEST_SUITE_P(Everywhere, EveryAlgorithm,
                         ::testing::Combine(::testing::ValuesIn(Algorithms::names()),
                                            ::testing::ValuesIn(all_places(ranks_per_node)),
                                            ::testing::Values(1, 2, 3, 4, 7, 8)),
                         case_name);
INSTANTIATE_TEST_SUITE_P(Everywhere, DecentralizedAlgorithm,
                         ::testing::Combine(::testing::ValuesIn(decentralized_algorithms()),
                                            ::testing::ValuesIn(all_places(ranks_per_node)),
                                            ::testing::Values(1, 2, 3, 4, 7, 8)),
                         case_name);

}  // namespace
}  // namespace trigram::testing
