// Members that come and go, as people ask for them: a file of steps, and what a run says of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/training/backend.hpp"
#include "tests/experiments/program_rig.hpp"

namespace trigram {
namespace {

using ::testing::HasSubstr;

class WithMembers : public Simulating {
 protected:
  Ended run(const std::string& schedule, const std::string& flags = "", const std::string& out = "out") const {
    const auto file = scratch.file("members.txt", schedule);
    return program("run --workload quadratic:noise=0.5 --lr 0.01 --steps 12 --ranks 4 --membership " + file.string() +
                   " " + flags + " --out " + (scratch / out).string());
  }
};

TEST_F(WithMembers, LeavesEpochsAndWhatTheyCost) {
  const Ended ended = run("at 3 lose 2\nat 6 join 2\nat 9 leave 0\n");
  ASSERT_EQ(ended.code, 0) << ended.text;
  EXPECT_THAT(ended.text, HasSubstr("members    4 epochs, the last of 4 ranks, goodput "));
  const nlohmann::json members = result()["membership"];
  EXPECT_EQ(members["epochs"].size(), 4U);
  EXPECT_GT(members["recovery_s"], 1) << "a loss is missed after a second";
  EXPECT_LT(members["goodput"], 0.5) << "steps are short";
  EXPECT_GT(members["goodput"], 0);
  const std::string rows = text_of(scratch / "out/epochs.csv");
  EXPECT_THAT(rows,
              HasSubstr("epoch,step,steps,ranks,joined,left,lost,begin_s,end_s,recovery_s,lost_s\n0,0,3,4,0,0,0,"));
  EXPECT_THAT(rows, HasSubstr("\n1,3,3,3,0,0,1,"));
  EXPECT_THAT(rows, HasSubstr("\n2,6,3,5,2,0,0,"));
  EXPECT_THAT(rows, HasSubstr("\n3,9,3,4,0,1,0,"));
  const std::string steps = text_of(scratch / "out/steps.csv");
  EXPECT_EQ(std::ranges::count(steps, '\n'), 1 + 12);
}

TEST_F(WithMembers, HasTheSameWeightsOnThreads) {
  const std::string schedule = "at 3 lose 2\nat 5 join 2\nat 7 leave 0\nat 10 join 1\nat 10 lose 4\n";
  for (const char* const algorithm :
       {"bytegrad:error_feedback=on", "diloco:every=3", "gradient_tracking", "choco_sgd"}) {
    SCOPED_TRACE(algorithm);
    const std::string flags = std::string("--algorithm ") + algorithm;
    ASSERT_EQ(run(schedule, flags).code, 0);
    const Ended threads = run(schedule, flags + " --backend threads", "threads");
    ASSERT_EQ(threads.code, 0) << threads.text;
    EXPECT_EQ(result()["weights"], result("threads")["weights"]);
    EXPECT_TRUE(result("threads")["membership"]["goodput"].is_null());
  }
}

TEST_F(WithMembers, TakesLongerToMissALoss) {
  ASSERT_EQ(run("at 3 lose 2\n", "--detection 5s").code, 0);
  EXPECT_GT(result()["membership"]["lost_s"], 5);
}

TEST_F(WithMembers, TakesLongerWhereTheyMeetAgain) {
  const std::string schedule = "at 3 lose 2\nat 6 join 2\nat 9 leave 0\n";
  ASSERT_EQ(run(schedule).code, 0);
  ASSERT_EQ(run(schedule, "--meeting 2s", "slow").code, 0);
  const nlohmann::json quick = result()["membership"], slow = result("slow")["membership"];
  EXPECT_NEAR(slow["recovery_s"].get<double>(), quick["recovery_s"].get<double>() + 3 * 2, 1e-6);
  EXPECT_EQ(slow["lost_s"], quick["lost_s"]);
  EXPECT_EQ(result("slow")["weights"], result()["weights"]);
}

TEST_F(WithMembers, RefusesWhatCannotBeBeforeTraining) {
  const auto refusal = [&](const std::string& schedule, const std::string& flags = "") {
    const Ended ended = run(schedule, flags);
    EXPECT_EQ(ended.code, 2) << ended.text;
    return ended.text;
  };
  EXPECT_THAT(refusal("at 3 lose 7"), HasSubstr("members.txt': at step 3 member 7 goes, who is not there"));
  EXPECT_THAT(refusal("lose 3"), HasSubstr("members.txt': line 1: is no change of members"));
  EXPECT_THAT(refusal("at 3 leave 1", "--algorithm decentralized:topology=hypercube"),
              HasSubstr("from step 3 on, with 3 members: topology 'hypercube' cannot have 3 vertices"));
  EXPECT_THAT(refusal("at 3 leave 1", "--trace"), HasSubstr("--membership makes a run of several epochs"));
  EXPECT_FALSE(std::filesystem::exists(scratch / "out/run.json"));
}

}  // namespace
}  // namespace trigram
