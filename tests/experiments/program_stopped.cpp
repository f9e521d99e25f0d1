// Runs that end early: what they leave, what they say, and that nobody takes it for a finished run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/training/backend.hpp"
#include "experiments/record/run_record.hpp"
#include "experiments/record/run_watch.hpp"
#include "tests/experiments/program_rig.hpp"

namespace trigram {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

class Stopped : public Simulating {
 protected:
  nlohmann::json run_in(const std::string& name) const {
    return nlohmann::json::parse(text_of(scratch / name / "run.json"), nullptr, false);
  }
  /// Rows without the line of columns.
  std::int64_t rows_in(const std::string& name) const {
    const std::string text = text_of(scratch / name / "steps.csv");
    return std::max<std::int64_t>(0, std::count(text.begin(), text.end(), '\n') - 1);
  }
  /// The steps that a run says it has made: "…, after 37 of 200 steps; …".
  static std::int64_t steps_said(const std::string& text) {
    const std::string before = "ended early, after ";
    const std::size_t at = text.find(before);
    return at == std::string::npos ? -1 : std::stoll(text.substr(at + before.size()));
  }
  void expect_rows(const std::string& name, const std::string& text) const {
    const std::int64_t steps = steps_said(text);
    EXPECT_GT(steps, 0) << text;
    EXPECT_EQ(rows_in(name), steps);
    EXPECT_THAT(run_in(name).value("stopped", ""), HasSubstr("after " + std::to_string(steps) + " of "));
    EXPECT_EQ(run_in(name)["curve"].size(), 1U) << "the evaluation before the first step";
    EXPECT_THAT(text, HasSubstr(path(name) + "/, whose run.json says so"));
  }
  /// What sh asks whether a run has left a checkpoint of more steps than these.
  std::string checkpointed(const std::string& folder, std::int64_t steps) const {
    return "[ \"$(ls " + path(folder) +
           R"sh( | sed -n 's/checkpoint-\([0-9]*\).json/\1/p' | sort -n | tail -1)" -gt )sh" + std::to_string(steps) +
           " ]";
  }
  /// The program, which sh ends by `end` once `happened` succeeds; in both, $pid is the program and $said what it says.
  Ended ended_once(const std::string& happened, const std::string& end, const std::string& arguments) const {
    return shell("said=" + path("said") + "\n" + program_path() + " " + arguments + " >$said 2>&1 & pid=$!\nuntil " +
                 happened + " || ! kill -0 $pid; do sleep 0.02; done 2>/dev/null\n" + end +
                 "\nwait $pid; code=$?; cat $said; exit $code");
  }
  const std::string endless = "run --workload quadratic --lr 0.001 --ranks 2 --steps 5000000 ";
};

TEST_F(Stopped, ByASignalARunLeavesItsRowsAndTheCommandThatGoesOn) {
  for (const auto& [signal, code] : {std::pair("TERM", 143), std::pair("INT", 130)}) {
    const std::string name = signal, flags = endless + "--checkpoint " + path("c" + name) + " --checkpoint-every 20 ";
    const std::string end = "kill -" + name + " $pid";
    const Ended ended = ended_once(checkpointed("c" + name, 0), end, flags + "--out " + path(name));
    EXPECT_EQ(ended.code, code) << ended.text;
    EXPECT_THAT(ended.text, HasSubstr("trigram: interrupted by signal "));
    expect_rows(name, ended.text);
    EXPECT_THAT(ended.text,
                HasSubstr(" by: trigram " + flags + "--out " + path(name) + " --resume " + path("c" + name)));
    const std::int64_t steps = rows_in(name);
    ended_once(checkpointed("c" + name, steps), end, flags + "--out " + path(name) + " --resume " + path("c" + name));
    EXPECT_TRUE(run_in(name).contains("resumed"));
    EXPECT_GT(rows_in(name), steps) << "those of before the checkpoint among them";
  }
}

TEST_F(Stopped, WhenItsSimulationIsKilled) {
  const Ended ended = ended_once(checkpointed("c", 0), "pkill -9 -P $pid",
                                 endless + "--checkpoint " + path("c") + " --checkpoint-every 20 --out " + path("a"));
  EXPECT_EQ(ended.code, 1) << ended.text;
  EXPECT_THAT(ended.text, HasSubstr("the simulation was ended by signal 9"));
  expect_rows("a", ended.text);
}

TEST_F(Stopped, ByAFaultARunLeavesItsRowsBesideAFinishedOne) {
  const std::string run =
      "run --workload quadratic --lr 0.001 --steps 400 --out " + path("a") + " --cluster two_by_four";
  const Ended faulty = program(run + ":faults=1ms/gpu/1");
  EXPECT_EQ(faulty.code, 1);
  expect_rows("a", faulty.text);
  EXPECT_THAT(run_in("a")["stopped"].get<std::string>(), HasSubstr("lost rank 1"));
  const std::string so_far = text_of(scratch / "a/steps.csv");
  ASSERT_EQ(program(run).code, 0);
  const std::string whole = text_of(scratch / "a/steps.csv");
  EXPECT_TRUE(whole.starts_with(so_far)) << "rows until the fault are those of a run without it";
  EXPECT_FALSE(run_in("a").contains("stopped"));
  const Ended again = program(run + ":faults=1ms/gpu/1");
  expect_rows("a/stopped", again.text);
  EXPECT_EQ(text_of(scratch / "a/steps.csv"), whole);
}

TEST_F(Stopped, ItsSamplesASecondCountAllMicroBatches) {
  const std::string run =
      "run --workload quadratic --lr 0.001 --steps 400 --ranks 8 --cluster two_by_four:faults=1ms/gpu/1";
  constexpr double micro_batches = 4;
  ASSERT_EQ(program(run + " --accumulate 4 --out " + path("a")).code, 1);
  const nlohmann::json summary = run_in("a")["summary"];
  const double steps = summary["iteration_s"].get<double>() * summary["samples_per_s"].get<double>();
  EXPECT_NEAR(steps, micro_batches * run_in("a")["workload"]["global_batch"].get<double>(), 0.01 * steps);
}

TEST_F(Stopped, BeforeTheFirstRowARunLeavesNothing) {
  const Ended faulty =
      program("run --profile vgg16 --steps 4 --out " + path("a") + " --cluster two_by_four:faults=1ns/gpu/1");
  EXPECT_EQ(faulty.code, 1);
  EXPECT_THAT(faulty.text, AllOf(HasSubstr("trigram: rank 0 lost rank 1 at "), Not(HasSubstr("their rows"))));
  EXPECT_FALSE(std::filesystem::exists(scratch / "a"));
}

TEST_F(Stopped, ARunIsNoFinishedOneForWhoeverReadsIt) {
  std::filesystem::create_directory(scratch / "a");
  scratch.file("a/run.json",
               R"({"identity":"x","inputs":{},"summary":{},"curve":[],"stopped":"after 1 of 2 steps: a fault"})");
  FileDigests digests;
  const RecordedRun read = read_run(scratch / "a", "x", digests);
  EXPECT_TRUE(read.run.is_null());
  EXPECT_EQ(read.problem, "it is of a run that ended early");
}

TEST(Expectations, AreTheRateSoFarTimesWhatIsToDo) {
  EXPECT_EQ(expectation({.seconds = 10, .steps = 2.5, .left = 1000, .messages = 500'000, .memory = 3e9}),
            "1000 steps will take about 67 min, about 2e+05 messages each, 5e+04 simulated a second; 3GB of memory so "
            "far");
  EXPECT_EQ(expectation({.seconds = 30, .steps = 1, .left = 3, .messages = 0, .memory = 1e6}),
            "3 steps will take about 90 s; 1MB of memory so far");
}

TEST(Expectations, AreSaidOnceSomeSecondsAreSeenOfARunThatTakesMoreThanAFew) {
  EXPECT_TRUE(is_long({.seconds = 5, .steps = 1, .left = 4}));
  EXPECT_FALSE(is_long({.seconds = 4, .steps = 1, .left = 1000})) << "too little of it is seen";
  EXPECT_FALSE(is_long({.seconds = 5, .steps = 1, .left = 3})) << "it takes 15 seconds";
  EXPECT_FALSE(is_long({.seconds = 60, .steps = 0, .left = 1000})) << "nobody knows";
}

TEST_F(Stopped, ALongRunSaysWhatToExpect) {
  const std::string run = "run --profile vgg16 --cluster two_by_four:nodes=16 --out " + path("a");
  const Ended ended = ended_once("grep -q 'will take about' $said", "kill $pid", run + " --steps 1000000");
  EXPECT_THAT(ended.text, HasSubstr("/1000000 steps: 1000000 steps will take about "));
  EXPECT_THAT(ended.text, HasSubstr(" messages each, "));
  EXPECT_THAT(ended.text, HasSubstr("; --fidelity fluid simulates a collective as one set of flows"));
}

}  // namespace
}  // namespace trigram
