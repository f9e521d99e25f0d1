// Searches from outside: what they leave, how they go on, and what they refuse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "core/training/backend.hpp"
#include "tests/experiments/program_rig.hpp"

namespace trigram::testing::program_tune_test {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

class Tune : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!Backends::has("sim")) GTEST_SKIP() << "this build has no simulator";
    static const bool optuna = shell("/usr/bin/python3 -I -c 'import optuna' 2>&1").code == 0;
    if (!optuna) GTEST_SKIP() << "python3-optuna is missing";
  }

  std::string command(const std::string& flags, const std::string& space, const std::string& out = "t") const {
    return "tune --workload quadratic:dimension=4096 --ranks 4 --steps 2 --plot off --space " +
           scratch.file("space.cfg", space).string() + " --out " + (scratch / out).string() + " " + flags;
  }
  Ended tune(const std::string& flags, const std::string& space, const std::string& out = "t") const {
    return program(command(flags, space, out));
  }
  nlohmann::json json_of(const std::string& name) const { return nlohmann::json::parse(text_of(scratch / name)); }
  std::string csv(const std::string& out) const { return text_of(scratch / out / "trials.csv"); }

  Scratch scratch;
};

/// On two nodes a hierarchy saves bytes between them; the rest is worth little.
const char* const communication = "hierarchy = none leader\nlanes = 1..4\nbucket-size = 1KiB..64KiB log\n";
const char* const slow_network = "--cluster two_by_four:nic_bandwidth=1Gbps,gpus_per_node=2 ";

TEST_F(Tune, TheBestIsAFileThatRunTakesAndIsAsFast) {
  const Ended ended = tune(slow_network + std::string("--trials 8 --confirm 1"), communication);
  ASSERT_EQ(ended.code, 0) << ended.text;
  const nlohmann::json found = json_of("t/tune.json")["verdict"];
  EXPECT_LT(found["value"], found["default"]);
  EXPECT_EQ(found["call"], "better") << ended.text;
  EXPECT_THAT(ended.text, HasSubstr("trigram run --config " + (scratch / "t").string() + "/best.cfg"));
  const std::string best = (scratch / "t/best.cfg").string();
  const Ended run = program("run --config " + best + " --out " + (scratch / "r").string());
  ASSERT_EQ(run.code, 0) << run.text;
  EXPECT_EQ(json_of("r/run.json")["summary"]["iteration_s"], found["value"]);
}

TEST_F(Tune, TwoChoicesAreSearchedWhole) {
  // Four configurations in all, of which one is the given; what each choice is worth alone is one of the others.
  const std::string space = "hierarchy = none leader\noverlap = on off\n";
  const Ended ended = tune(slow_network + std::string("--trials 20 --confirm 0 --uncertainty 4"), space);
  ASSERT_EQ(ended.code, 0) << ended.text;
  EXPECT_THAT(ended.text, HasSubstr("time of an iteration, 4 trials (there are no more) of 2 choices"));
  EXPECT_THAT(ended.text, ContainsRegex("the best is faster with a probability of [0-9.]+ %"));
  EXPECT_THAT(text_of(scratch / "t/uncertainty.txt"), HasSubstr("median of 4 draws"));
  const nlohmann::json found = json_of("t/tune.json");
  std::map<std::string, double> times;
  for (const nlohmann::json& trial : found["trials"]) {
    const nlohmann::json& chosen = trial["chosen"];
    times[chosen.value("hierarchy", "none") + chosen.value("overlap", "on")] = trial["value"];
  }
  ASSERT_EQ(times.size(), 4U);
  const double least = std::min({times["noneon"], times["noneoff"], times["leaderon"], times["leaderoff"]});
  EXPECT_EQ(found["verdict"]["value"], least);
  const nlohmann::json& set_back = found["verdict"]["set_back"];
  ASSERT_TRUE(set_back.contains("hierarchy")) << ended.text;
  EXPECT_EQ(set_back["hierarchy"]["value"], times[set_back.contains("overlap") ? "noneoff" : "noneon"]);
}

TEST_F(Tune, KilledAndContinuedOrWithOtherJobsItIsTheSame) {
  const std::string flags = slow_network + std::string("--trials 9 --confirm 1 --seed 5 ");
  ASSERT_EQ(tune(flags + "--jobs 1", communication, "whole").code, 0);
  const std::string line = program_path() + " " + command(flags + "--jobs 2", communication, "killed");
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::setpgid(0, 0);
    ::execl("/bin/sh", "sh", "-c", ("exec " + line + " >/dev/null 2>&1").c_str(), nullptr);
    ::_exit(127);
  }
  while (!fs::exists(scratch / "killed/trials.csv") && ::kill(pid, 0) == 0) ::usleep(1000);
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  Ended last = tune(flags + "--jobs 2", communication, "killed");
  for (int i = 0; i < 100 && last.code == 2; ++i) {  // the killed one's processes are ending
    ::usleep(50'000);
    last = tune(flags + "--jobs 2", communication, "killed");
  }
  ASSERT_EQ(last.code, 0) << last.text;
  EXPECT_EQ(csv("killed"), csv("whole"));
  EXPECT_EQ(text_of(scratch / "killed/best.cfg"), text_of(scratch / "whole/best.cfg"));
}

TEST_F(Tune, MoreTrialsGoOnAndOtherFlagsAreRefusedByName) {
  const std::string flags = slow_network;
  ASSERT_EQ(tune(flags + "--trials 5 --confirm 0", communication).code, 0);
  const std::string before = csv("t");
  const Ended rate = tune(flags + "--trials 5 --confirm 0 --lr 0.2", communication);
  EXPECT_EQ(rate.code, 2);
  EXPECT_EQ(rate.text, "trigram: '" + (scratch / "t").string() +
                           "' holds a search with no --lr, not with --lr 0.2; give another --out, or what it was\n");
  EXPECT_THAT(tune(flags + "--trials 5 --confirm 0", "lanes = 1 2\n").text,
              HasSubstr("holds a search with another space"));
  EXPECT_EQ(csv("t"), before);
  ASSERT_EQ(tune(flags + "--trials 9 --confirm 0", communication).code, 0);
  EXPECT_THAT(csv("t"), ::testing::StartsWith(before));
}

TEST_F(Tune, WhatCannotBeTogetherIsCountedAndNamed) {
  const Ended ended = tune("--trials 9 --confirm 0", "algorithm = all_reduce ad_psgd\nhierarchy = none leader\n");
  ASSERT_EQ(ended.code, 0) << ended.text;
  EXPECT_THAT(ended.text,
              HasSubstr("impossible 1 of 4 trials; the first: algorithm 'ad_psgd' refuses leader: a pair may "
                        "span two nodes; leave --hierarchy out\n"));
  EXPECT_THAT(csv("t"),
              HasSubstr(",algorithm 'ad_psgd' refuses leader: a pair may span two nodes; leave --hierarchy out\n"));
}

TEST_F(Tune, AChoiceUnderAnotherIsMadeThereAlone) {
  const Ended ended = tune("--trials 12 --confirm 0",
                           "algorithm = all_reduce local_sgd\n[algorithm.local_sgd]\nalgorithm.every = 2..64\n");
  ASSERT_EQ(ended.code, 0) << ended.text;
  int local = 0;
  const nlohmann::json trials = json_of("t/tune.json")["trials"];
  for (const nlohmann::json& trial : trials) {
    const bool is_local = trial["chosen"].value("algorithm", "") == "local_sgd";
    EXPECT_EQ(trial["chosen"].contains("algorithm.every"), is_local) << trial;
    local += is_local ? 1 : 0;
  }
  EXPECT_GT(local, 0);
}

TEST_F(Tune, TimeToLossIsTheFirstEvaluationThere) {
  const std::string flags = "--evaluate-every 1 --for time_to_loss=0.6 --trials 4 --confirm 0 --out ";
  const fs::path space = scratch.file("space.cfg", "lr = 0.05 0.3\n");
  const Ended ended = program("tune --workload mlp:hidden=8 --steps 40 --lr 0.3 --plot off --space " + space.string() +
                              " " + flags + (scratch / "t").string());
  ASSERT_EQ(ended.code, 0) << ended.text;
  const nlohmann::json trials = json_of("t/tune.json")["trials"];
  const auto run = nlohmann::json::parse(text_of(scratch / "t" / trials[0]["folder"].get<std::string>() / "run.json"));
  double first = 0;
  for (const nlohmann::json& point : run["curve"]) {
    if (first == 0 && point["loss"] <= 0.6) first = point["time_s"];
  }
  ASSERT_GT(first, 0) << run["curve"];
  EXPECT_EQ(trials[0]["value"], first);
}

TEST_F(Tune, ARunsFailureEndsItWithItsMessage) {
  const Ended ended = tune("--cluster two_by_four:faults=1us/nic/0,gpus_per_node=2 --trials 4", "lanes = 1 2\n");
  EXPECT_EQ(ended.code, 1) << ended.text;
  EXPECT_THAT(ended.text, AllOf(HasSubstr("trigram: a run failed: "), HasSubstr("log.txt; its flags are beside it)")));
}

struct RefusedSpace {
  std::string flags;
  const char* space;
  const char* message;
};

class RefusedSearch : public Tune, public ::testing::WithParamInterface<RefusedSpace> {};

TEST_P(RefusedSearch, BeforeTheFirstTrialAndLeavesNothing) {
  const Ended ended = tune(GetParam().flags, GetParam().space);
  EXPECT_EQ(ended.code, 2) << ended.text;
  EXPECT_THAT(ended.text, HasSubstr(GetParam().message));
  EXPECT_THAT(ended.text, Not(HasSubstr("Traceback")));
  EXPECT_FALSE(fs::exists(scratch / "t"));
}

INSTANTIATE_TEST_SUITE_P(
    All, RefusedSearch,
    ::testing::Values(
        RefusedSpace{"", "lanse = 1 2\n", "space.cfg:1: 'lanse' is no flag of trigram run (did you mean 'lanes'?)"},
        RefusedSpace{"", "seed = 1 2\n", "space.cfg:1: --seed is nothing to choose"},
        RefusedSpace{"", "lanes = 2\n", "'lanes' has one value, which is no choice; give it as a flag"},
        RefusedSpace{"", "lanes = 1 2 1\n", "'lanes' has a value twice"},
        RefusedSpace{"", "lanes = 4..1\n", "4..1 is no range; its first number must be the lower one"},
        RefusedSpace{"", "lr = 0..1 log\n", "0..1 log begins at 0, which has no logarithm; begin above 0"},
        RefusedSpace{"", "lr = 0.1..1 lag\n", "behind 0.1..1 stands 'lag'"},
        RefusedSpace{"", "bucket-size = 1KiB..1MiB\n", "has two units; write both ends in one"},
        RefusedSpace{"", "lanes = 1\nlr = fast slow\n", "'lanes' has one value"},
        RefusedSpace{"", "lr = fast slow\n", "space.cfg:1: trigram tune: lr=fast is not a number"},
        RefusedSpace{"", "lanes = 1..4096\n", "space.cfg:1: trigram tune: lanes=4096"},
        RefusedSpace{"", "algorithm = all_reduce qsdg\n", "unknown algorithm 'qsdg' (did you mean 'qsgd'?)"},
        RefusedSpace{"", "lanes = 1 2\n[algorithm.qsgd]\nlr = 0.1 0.2\n",
                     "section [algorithm.qsgd] is no [FLAG.VALUE]"},
        RefusedSpace{"--for speed", "lanes = 1 2\n", "--for speed is neither iteration_s nor time_to_loss=LOSS"},
        RefusedSpace{"--for time_to_loss=0.3", "lanes = 1 2\n", "give --evaluate-every STEPS"},
        RefusedSpace{"--launcher nobody_starts_by_this", "lanes = 1 2\n",
                     "'nobody_starts_by_this' is no program that can be started"},
        RefusedSpace{"--launcher " + std::string(1000, 'a'), "lanes = 1 2\n",
                     "aaa'... (1000 bytes) is no program that can be started"},
        RefusedSpace{"--launcher \"'x\"", "lanes = 1 2\n", "is no command: no closing quotation"},
        RefusedSpace{"--algorithm ad_psgd --hierarchy leader", "lanes = 1 2\n",
                     "trigram: algorithm 'ad_psgd' refuses leader"},
        RefusedSpace{"--trials 0", "lanes = 1 2\n", "trials=0"},
        RefusedSpace{"--trace", "lanes = 1 2\n", "'--trace'"}));

}  // namespace
}  // namespace trigram::testing::program_tune_test
