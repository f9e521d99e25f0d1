// Published behaviour of Bagua's algorithms, as reference vectors (tests/vectors).
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/algorithms/script.hpp"
#include "tests/algorithms/worlds.hpp"
#include "tests/support/source_tree.hpp"

namespace trigram::testing::vectors_test {
namespace {

using nlohmann::json;
using Vectors = std::vector<std::vector<float>>;

/// The cases of a file; there are some.
json cases_of(const std::string& name) {
  std::ifstream file(source_tree() / "tests/vectors" / (name + ".json"));
  EXPECT_TRUE(file.good()) << name;
  json cases = json::parse(file).at("cases");
  EXPECT_FALSE(cases.empty()) << name;
  return cases;
}

/// Plain SGD with learning rate 1 on these gradients, [step][rank][element], from `initial`.
TrainingOptions play_gradients(const std::vector<Vectors>& gradients, const std::vector<float>& initial,
                               const std::string& algorithm) {
  Script script;
  script.layers = {static_cast<std::int64_t>(initial.size())};
  script.initial = [initial](std::int64_t element) { return initial[static_cast<std::size_t>(element)]; };
  script.gradient = [gradients](std::int64_t step, int rank, std::int64_t element, float) {
    return gradients[static_cast<std::size_t>(step)][static_cast<std::size_t>(rank)][static_cast<std::size_t>(element)];
  };
  play(script);
  TrainingOptions options = scripted(algorithm, 1);
  options.learning_rate = 1;
  options.evaluate_every = 0;
  return options;
}

/// Values are of order one, so what is near zero is what is left of such.
void expect_near(const Vectors& actual, const Vectors& expected, double relative, const std::string& where) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t rank = 0; rank < actual.size(); ++rank) {
    for (std::size_t i = 0; i < expected[rank].size(); ++i) {
      EXPECT_NEAR(actual[rank][i], expected[rank][i], relative * std::max(0.1F, std::abs(expected[rank][i])))
          << where << ", rank " << rank << ", element " << i;
    }
  }
}

TEST(ReferenceVectors, ByteGradIsBaguasScatterReduce) {
  int checked = 0;
  for (const json& one : cases_of("bytegrad_scattergather_allreduce")) {
    // Where a level leaves [0, 255], Bagua's wraps around and ours is clamped.
    if (one.at("level_out_of_range_somewhere")) continue;
    ++checked;
    const auto inputs = one.at("inputs").get<Vectors>();
    const auto expected = one.at("output_all_ranks").get<std::vector<float>>();
    const int ranks = one.at("nranks");
    const bool average = one.at("average");
    const TrainingOptions options = play_gradients({inputs}, std::vector<float>(expected.size(), 0.0F), "bytegrad");
    for (const auto& weights : weights_of(train_on(threads(ranks), ranks, options))) {
      for (std::size_t i = 0; i < expected.size(); ++i) {
        // Ours is always the mean. A level of these chunks is worth at least 4e-4: none may differ.
        const double output = -weights[i] * (average ? 1.0 : ranks);
        EXPECT_NEAR(output, expected[i], 1e-5 * std::max(0.01F, std::abs(expected[i])))
            << one.at("name") << ", element " << i;
      }
    }
  }
  EXPECT_GE(checked, 4);
}

TEST(ReferenceVectors, DecentralizedIsBaguasForEveryPeerSelectionAndInterval) {
  for (const json& one : cases_of("decentralized_full_precision")) {
    const std::string topology = one.at("mode") == "all" ? "complete" : one.at("mode").get<std::string>();
    const std::string algorithm =
        "decentralized:topology=" + topology + ",every=" + std::to_string(one.at("communication_interval").get<int>());
    const int ranks = one.at("nranks");
    TrainingOptions options =
        play_gradients(one.at("grads").get<std::vector<Vectors>>(), one.at("w0").get<std::vector<float>>(), algorithm);
    options.learning_rate = one.at("lr");
    for (const json& step : one.at("trace")) {
      options.steps = step.at("step").get<std::int64_t>() + 1;
      expect_near(weights_of(train_on(threads(ranks), ranks, options)), step.at("weights_after").get<Vectors>(), 1e-5,
                  algorithm + ", step " + step.at("step").dump());
    }
  }
}

TEST(ReferenceVectors, LowPrecisionDecentralizedIsBaguasRing) {
  for (const json& one : cases_of("low_precision_decentralized_ring")) {
    auto gradients = one.at("updates").get<std::vector<Vectors>>();
    for (Vectors& step : gradients) {
      for (auto& rank : step) {
        for (float& update : rank) update = -update;
      }
    }
    const int ranks = one.at("nranks");
    TrainingOptions options =
        play_gradients(gradients, one.at("w0").get<std::vector<float>>(), "low_precision_decentralized");
    for (const json& step : one.at("trace")) {
      // One level of these differences is worth more than 1e-4: equal weights mean equal payloads.
      options.steps = step.at("step").get<std::int64_t>() + 1;
      expect_near(weights_of(train_on(threads(ranks), ranks, options)), step.at("x").get<Vectors>(), 1e-5,
                  std::to_string(ranks) + " ranks, step " + step.at("step").dump());
    }
  }
}

/// A parameter of an algorithm, as its text.
std::string given(const char* key, const json& value) { return "," + std::string(key) + "=" + value.dump(); }

TEST(ReferenceVectors, QAdamIsBaguasWhereItIsAsked) {
  for (const json& one : cases_of("q_adam")) {
    const std::string algorithm =
        "qadam:as_bagua=on" + given("warmup", one.at("warmup_steps")) + given("weight_decay", one.at("weight_decay")) +
        given("beta1", one.at("betas").at(0)) + given("beta2", one.at("betas").at(1)) + given("epsilon", one.at("eps"));
    const int ranks = one.at("nranks");
    TrainingOptions options =
        play_gradients(one.at("grads").get<std::vector<Vectors>>(), one.at("w0").get<std::vector<float>>(), algorithm);
    options.learning_rate = one.at("lr");
    for (const json& step : one.at("trace")) {
      if (ranks == 1 && step.at("mode") == "compress") break;  // Bagua encodes also where there is nobody to send to
      options.steps = step.at("iteration").get<std::int64_t>();
      const Vectors expected(static_cast<std::size_t>(ranks), step.at("weights").get<std::vector<float>>());
      expect_near(weights_of(train_on(threads(ranks), ranks, options)), expected, 1e-5,
                  algorithm + ", iteration " + step.at("iteration").dump());
    }
  }
}

TEST(ReferenceVectors, LeaderHierarchyGivesTheGlobalMeanOnAnyNodes) {
  for (const json& one : cases_of("hierarchical_average")) {
    Vectors inputs;
    for (const json& node : one.at("inputs")) {
      for (const json& rank : node) inputs.push_back(rank.get<std::vector<float>>());
    }
    const auto expected = one.at("true_global_mean").get<std::vector<float>>();
    const int ranks = static_cast<int>(inputs.size());
    // The nodes of the vector, and unequal ones, where a mean of node means would be wrong.
    for (const int ranks_per_node : {one.at("gpus_per_node").at(0).get<int>(), 3, 5}) {
      TrainingOptions options = play_gradients({inputs}, std::vector<float>(expected.size(), 0.0F), "all_reduce");
      options.relaxation.hierarchy = Hierarchy::leader;
      for (const auto& weights : weights_of(train_on(threads(ranks_per_node), ranks, options))) {
        for (std::size_t i = 0; i < expected.size(); ++i)
          EXPECT_NEAR(-weights[i], expected[i], 1e-6) << ranks_per_node << " a node";
      }
    }
  }
}

}  // namespace
}  // namespace trigram::testing::vectors_test
