// Micro-batches and 16-bit gradients as people ask for them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/training/backend.hpp"
#include "tests/experiments/program_rig.hpp"

namespace trigram {
namespace {

using ::testing::HasSubstr;

class Accumulating : public Simulating {
 protected:
  Ended run(const std::string& flags, const std::string& out) const {
    return program("run --record all --ranks 4 --lr 0.1 --steps 6 --evaluate-every 3 " + flags + " --out " + path(out));
  }
  /// Of step 0, the mean over ranks.
  double first_loss(const std::string& out) const {
    double sum = 0;
    for (const auto& row : rows_of(scratch / out / "steps.csv")) sum += row[0] == "0" ? std::stod(row[3]) / ranks : 0;
    return sum;
  }

  static constexpr int ranks = 4;
};

// The samples of a step are those of one batch four times as large, and so are the mean of losses and gradients.
TEST_F(Accumulating, IsABatchThatManyTimesAsLarge) {
  const Ended parts = run("--workload mlp --global-batch 32 --accumulate 4", "parts");
  ASSERT_EQ(parts.code, 0) << parts.text;
  ASSERT_EQ(run("--workload mlp --global-batch 128", "whole").code, 0);
  const nlohmann::json in_parts = result("parts"), whole = result("whole");
  ASSERT_EQ(in_parts["curve"].size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    const double loss = whole["curve"][i]["loss"];
    EXPECT_NEAR(in_parts["curve"][i]["loss"].get<double>(), loss, 1e-5 * loss) << i;
  }
  EXPECT_EQ(in_parts["configuration"]["flags"]["accumulate"], "4");
  EXPECT_EQ(in_parts["summary"]["bytes_per_step_mean"], whole["summary"]["bytes_per_step_mean"]);
  EXPECT_NEAR(first_loss("parts"), first_loss("whole"), 1e-5);
}

TEST_F(Accumulating, OnAProfileTakesItsTimeAndCountsAllSamples) {
  const std::string profile =
      "--workload bert_large:batch=8,compute=0.1s --cluster two_by_four --overlap off --gradients ";
  ASSERT_EQ(run(profile + "f32", "one").code, 0);
  ASSERT_EQ(run(profile + "f32 --accumulate 3", "three").code, 0);
  ASSERT_EQ(run(profile + "fp16", "half").code, 0);
  const auto summary = [&](const char* out) { return result(out)["summary"]; };
  const double one = summary("one")["iteration_s"], three = summary("three")["iteration_s"];
  EXPECT_NEAR(three - one, 2 * 0.1, 1e-6);
  EXPECT_NEAR(summary("three")["samples_per_s"].get<double>(), 3 * 4 * 8 / three, 1e-3);
  EXPECT_EQ(2 * summary("half")["bytes_per_step_mean"].get<double>(), summary("one")["bytes_per_step_mean"]);
}

TEST_F(Accumulating, GoesOnFromACheckpointOfTheSame) {
  const std::string flags = "--workload mlp --accumulate 2 --gradients bf16 --checkpoint-every 4 ";
  ASSERT_EQ(run(flags + "--checkpoint " + path("c"), "whole").code, 0);
  ASSERT_EQ(run(flags + "--checkpoint " + path("d") + " --resume " + path("c"), "rest").code, 0);
  EXPECT_EQ(text_of(scratch / "rest/steps.csv"), text_of(scratch / "whole/steps.csv"));
  const Ended other = run("--workload mlp --accumulate 3 --gradients bf16 --resume " + path("c"), "other");
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.text, HasSubstr("accumulate=2 then and accumulate=3 now"));
}

TEST_F(Accumulating, RefusesWhatIsNoType) {
  const Ended ended = run("--gradients int8", "out");
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.text, HasSubstr("gradients 'int8' are none of f32, fp16, bf16"));
}

}  // namespace
}  // namespace trigram
