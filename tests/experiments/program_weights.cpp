// By what run.json shows that two runs ended at the same bits, and which clock its seconds are of.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/training/backend.hpp"
#include "experiments/record/report.hpp"
#include "experiments/record/result_files.hpp"
#include "tests/experiments/program_rig.hpp"

namespace trigram {
namespace {

nlohmann::json weights_of(const std::string& flags) {
  const Scratch scratch;
  const Ended ended = program("run --steps 4 --ranks 4 " + flags + " --out " + (scratch / "a").string());
  EXPECT_EQ(ended.code, 0) << ended.text;
  return nlohmann::json::parse(text_of(scratch / "a/run.json"))["weights"];
}

TEST(Weights, HaveOneDigestWhereTheirBitsAreTheSame) {
  if (!Backends::has("sim")) GTEST_SKIP() << "this build has no simulator";
  const nlohmann::json once = weights_of("--workload mlp");
  EXPECT_EQ(once["equal_on_all_ranks"], true);
  EXPECT_EQ(once["digest"].get<std::string>().size(), 16U);
  EXPECT_EQ(weights_of("--workload mlp"), once);
  EXPECT_EQ(weights_of("--workload mlp --fidelity fluid --lanes 3"), once) << "time does not change a bit";
  EXPECT_NE(weights_of("--workload mlp --seed 9")["digest"], once["digest"]);
}

TEST(Weights, OfRanksThatDifferAreSaidToDiffer) {
  if (!Backends::has("sim")) GTEST_SKIP() << "this build has no simulator";
  const nlohmann::json apart = weights_of("--workload mlp --algorithm local_sgd:every=100");
  EXPECT_EQ(apart["equal_on_all_ranks"], false);
  EXPECT_EQ(apart["digest"].get<std::string>().size(), 16U);
}

TEST(Weights, OfReportsCountBitByBitAndInRankOrder) {
  Training training;
  training.ranks.resize(3);
  EXPECT_TRUE(weights_facts(training).is_null());
  training.ranks[0].weights_digest = training.ranks[1].weights_digest = 0xabc;  // the third serves
  EXPECT_EQ(weights_facts(training), (nlohmann::json{{"digest", "0000000000000abc"}, {"equal_on_all_ranks", true}}));
  training.ranks[1].weights_digest = 0xdef;
  const nlohmann::json one = weights_facts(training);
  std::swap(training.ranks[0].weights_digest, training.ranks[1].weights_digest);
  EXPECT_NE(weights_facts(training)["digest"], one["digest"]);
  EXPECT_EQ(one["equal_on_all_ranks"], false);
}

TEST(Seconds, OfARealClockAreNotCalledSimulated) {
  Training training;
  training.ranks.resize(1);
  training.seconds = 2.5;
  const nlohmann::json real = summarize(training, 1, /*simulated=*/false), model = summarize(training, 1);
  EXPECT_TRUE(real["simulated_s"].is_null());
  EXPECT_EQ(real["clock_s"], 2.5);
  EXPECT_EQ(model["simulated_s"], 2.5);
  EXPECT_EQ(model["clock_s"], 2.5);
}

}  // namespace
}  // namespace trigram
