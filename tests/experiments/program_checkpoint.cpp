// Checkpoints as people use them: runs that are killed and go on, damaged files, other settings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <functional>
#include <nlohmann/json.hpp>

#include "core/step/algorithm.hpp"
#include "core/training/backend.hpp"
#include "tests/experiments/program_rig.hpp"

namespace trigram {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class Checkpointed : public Simulating {
 protected:
  Ended run(const std::string& flags, const std::string& out = "out",
            const std::string& given = "--steps 10 --ranks 4") const {
    return program("run --workload quadratic:noise=0.5 --lr 0.01 --evaluate-every 4 " + given + " " + flags +
                   " --out " + path(out));
  }
  /// Steps after which there are checkpoints.
  std::vector<int> checkpoints() const {
    std::vector<int> steps;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(scratch / "c", none)) {
      if (entry.path().extension() == ".json") steps.push_back(std::stoi(entry.path().stem().string().substr(11)));
    }
    std::sort(steps.begin(), steps.end());
    return steps;
  }
  fs::path shard(const std::string& begin) const {
    for (const auto& entry : fs::directory_iterator(scratch / "c")) {
      if (entry.path().filename().string().starts_with(begin)) return entry.path();
    }
    return {};
  }
  void expect_same_files(const std::string& a, const std::string& b) const {
    for (const char* file : {"steps.csv", "evals.csv"})
      EXPECT_EQ(text_of(scratch / a / file), text_of(scratch / b / file)) << file;
  }
  const std::string every_3 = "--checkpoint " + path("c") + " --checkpoint-every 3 ";
};

TEST_F(Checkpointed, EveryAlgorithmWritesTheSameFilesAsWithoutInterruption) {
  for (const std::string& algorithm : Algorithms::own_names()) {
    for (const std::string fidelity : {"exact", "fluid"}) {
      SCOPED_TRACE(algorithm + ", " + fidelity);
      if (algorithm == "power_sgd") continue;  // has no matrices to send here
      const std::string flags =
          "--algorithm " + algorithm + " --record all --fidelity " + fidelity +
          " --checkpoint-every 6 --cluster two_by_four:gpu_busy_power=300W,gpu_idle_power=50W,nic_energy=1nJ/B ";
      const Ended whole = run(flags + "--checkpoint " + path("c"), "whole");
      ASSERT_EQ(whole.code, 0) << whole.text;
      ASSERT_EQ(checkpoints(), (std::vector{6, 10}));
      const Ended rest = run(flags + "--checkpoint " + path("d") + " --resume " + path("c/checkpoint-6.json"), "rest");
      ASSERT_EQ(rest.code, 0) << rest.text;
      expect_same_files("rest", "whole");
      fs::remove_all(scratch / "c");
      fs::remove_all(scratch / "d");
    }
  }
}

TEST_F(Checkpointed, KilledAtAnyMomentLosesAtMostTheStepsBetweenTwo) {
  const std::string given = "--steps 60 --ranks 4";
  const std::string flags = "--checkpoint " + path("c") + " --checkpoint-every 1 ";
  ASSERT_EQ(run("--checkpoint " + path("w") + " --checkpoint-every 1", "whole", given).code, 0);
  std::string resume;
  for (const int seen : {1, 2, 9, 10, 20}) {
    const std::string command = "exec " + program_path() + " run --workload quadratic:noise=0.5 --lr 0.01 " +
                                "--evaluate-every 4 " + given + " " + flags + resume + " --out " + path("out") +
                                " >/dev/null 2>&1";
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      ::_exit(127);
    }
    std::vector<int> left;
    while ((left = checkpoints()).empty() || left.back() < seen) {
      ASSERT_EQ(::waitpid(pid, nullptr, WNOHANG), 0) << "ended by itself: " << command;
      ::usleep(100);
    }
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    ASSERT_GE(checkpoints().back(), left.back());
    resume = "--resume " + path("c");
  }
  const int last = checkpoints().back();
  const Ended rest = run(flags + resume, "out", given);
  ASSERT_EQ(rest.code, 0) << rest.text;
  EXPECT_EQ(nlohmann::json::parse(text_of(scratch / "out/run.json"))["resumed"]["steps"], last);
  expect_same_files("out", "whole");
  EXPECT_EQ(checkpoints(), (std::vector{59, 60}));
  EXPECT_EQ(std::distance(fs::directory_iterator(scratch / "c"), {}), 2 * (1 + 4));
}

TEST_F(Checkpointed, ADamagedOneIsNamedAndTheOneBeforeItOffered) {
  ASSERT_EQ(run(every_3, "whole").code, 0);
  const fs::path last = shard("checkpoint-10.rank-2");
  const std::string whole = text_of(last);
  const auto damaged = [&](const std::string& name, const std::string& content, const std::string& what) {
    std::ofstream(scratch / "c" / name) << content;
    const Ended ended = run("--resume " + path("c"));
    EXPECT_EQ(ended.code, 2);
    EXPECT_THAT(ended.text, HasSubstr("'" + path("c/" + name) + "'"));
    EXPECT_THAT(ended.text, HasSubstr(what));
    EXPECT_THAT(ended.text, HasSubstr("the one before it is whole: go on from there with --resume '" +
                                      path("c/checkpoint-9.json") + "'"));
  };
  std::string flipped = whole;
  flipped[whole.size() / 2] ^= 1;
  const std::string name = last.filename();
  damaged(name, flipped, "is damaged: its checksum is ");
  damaged(name, whole.substr(0, 100), "is damaged: it has 100 bytes, and was written with ");
  const std::string manifest = text_of(scratch / "c/checkpoint-10.json");
  std::string edited = manifest;
  edited.replace(edited.find("\"steps\": 10"), 11, "\"steps\": 8");
  std::ofstream(last) << whole;
  damaged("checkpoint-10.json", edited, "cannot be used: its content has another checksum than it says");
  damaged("checkpoint-10.json", manifest.substr(0, 99), "cannot be used: it is no whole manifest");
  std::ofstream(scratch / "c/checkpoint-10.json") << manifest;
  fs::remove(last);
  const Ended missing = run("--resume " + path("c"));
  EXPECT_EQ(missing.code, 2);
  EXPECT_THAT(missing.text, HasSubstr("'" + last.string() + "' is damaged: it is missing; the one before it is whole"));
  fs::remove(shard("checkpoint-9.rank-0"));
  EXPECT_THAT(run("--resume " + path("c")).text, HasSubstr("no other one before it is whole"));
}

TEST_F(Checkpointed, TheOneBeforeADamagedOneGoesOnInTheSameFolder) {
  ASSERT_EQ(run(every_3, "whole").code, 0);
  fs::remove(shard("checkpoint-10.rank-2"));
  const Ended rest = run(every_3 + "--resume " + path("c/checkpoint-9.json"));
  EXPECT_EQ(rest.code, 0) << rest.text;
  expect_same_files("out", "whole");
  EXPECT_EQ(run("--resume " + path("c")).code, 0);
}

TEST_F(Checkpointed, OtherSettingsAreNamed) {
  ASSERT_EQ(run(every_3).code, 0);
  const auto refusal = [&](const std::string& flags) {
    const Ended ended = run("--resume " + path("c") + " " + flags);
    EXPECT_EQ(ended.code, 2) << flags;
    return ended.text;
  };
  EXPECT_THAT(refusal("--seed 7 --algorithm local_sgd"),
              HasSubstr("was written by a run with other settings: algorithm=all_reduce then and algorithm=local_sgd "
                        "now; seed=1 then and seed=7 now; go on with the same"));
  EXPECT_THAT(refusal("--optimizer adam"), HasSubstr("optimizer=sgd then and optimizer=adam now"));
  EXPECT_THAT(refusal("--bucket-size 1KiB"), HasSubstr("bucket-size=10MiB then and bucket-size=1KiB now"));
}

TEST_F(Checkpointed, OtherRanksGoOn) {
  ASSERT_EQ(run(every_3 + "--optimizer adam").code, 0);
  const Ended rest = run("--optimizer adam --resume " + path("c"), "rest", "--steps 12 --ranks 2");
  EXPECT_EQ(rest.code, 0) << rest.text;
  EXPECT_EQ(nlohmann::json::parse(text_of(scratch / "rest/run.json"))["resumed"]["steps"], 10);
}

TEST_F(Checkpointed, OtherRanksGoOnWithEveryAlgorithm) {
  for (const std::string& algorithm : Algorithms::own_names()) {
    if (algorithm == "power_sgd") continue;  // has no matrices to send here
    SCOPED_TRACE(algorithm);
    const std::string flags = "--algorithm " + algorithm + " --resume " + path("c");
    ASSERT_EQ(run(every_3 + "--algorithm " + algorithm).code, 0);
    for (const std::string ranks : {"2", "8"}) {
      const Ended rest = run(flags, "rest", "--steps 12 --ranks " + ranks);
      EXPECT_EQ(rest.code, 0) << rest.text;
      EXPECT_EQ(nlohmann::json::parse(text_of(scratch / "rest/run.json"))["resumed"]["steps"], 10);
    }
    fs::remove_all(scratch / "c");
  }
}

TEST_F(Checkpointed, AFinishedRunLeavesItsLastState) {
  for (const std::string algorithm : {"local_sgd:every=3", "async_average"}) {
    const std::string flags = "--algorithm " + algorithm + " --checkpoint-every 10 --checkpoint ";
    ASSERT_EQ(run(flags + path("w"), "whole", "--steps 20 --ranks 4").code, 0);
    ASSERT_EQ(run(flags + path("c"), "half").code, 0);
    EXPECT_EQ(checkpoints(), std::vector{10});
    const Ended rest = run(flags + path("d") + " --resume " + path("c"), "rest", "--steps 20 --ranks 4");
    ASSERT_EQ(rest.code, 0) << rest.text;
    expect_same_files("rest", "whole");
    // As after a kill between the last step and the files of results.
    ASSERT_EQ(run("--algorithm " + algorithm + " --resume " + path("c"), "again").code, 0);
    expect_same_files("again", "half");
    for (const char* folder : {"w", "c", "d"}) fs::remove_all(scratch / folder);
  }
  ASSERT_EQ(run("--checkpoint-every 1000 --checkpoint " + path("c")).code, 0);
  EXPECT_EQ(checkpoints(), std::vector{10}) << "also where no step before it was due";
}

TEST_F(Checkpointed, ALongerRunIsTheOneThatWasBegun) {
  const std::string flags = "--schedule step:every=4 --checkpoint-every 9 --checkpoint ";
  ASSERT_EQ(run(flags + path("w"), "whole", "--steps 20 --ranks 4").code, 0);
  ASSERT_EQ(run(flags + path("c")).code, 0);
  const std::string resume = " --resume " + path("c") + " ";
  const Ended rest = run(flags + path("d") + resume, "rest", "--steps 20 --ranks 4 --mesh data=4");
  ASSERT_EQ(rest.code, 0) << rest.text;
  expect_same_files("rest", "whole");
  EXPECT_EQ(run(flags + path("f") + resume, "rest", "--steps 2e1 --ranks 4").code, 0) << "that is 20";
  EXPECT_THAT(run(flags + path("e") + resume, "rest", "--steps 9 --ranks 4").text,
              HasSubstr("the checkpoint is of 10 steps, and this run has 9, which are done; give --steps more"));
}

TEST_F(Checkpointed, ALongerRunWhoseRateLooksAtTheEndIsRefused) {
  ASSERT_EQ(run(every_3 + "--schedule cosine").code, 0);
  const Ended ended = run("--schedule cosine --resume " + path("c"), "rest", "--steps 20 --ranks 4");
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.text, HasSubstr("schedule cosine looks at the end: of 20 steps, step 1 has another learning rate "
                                    "than of 10, by which it was trained; go on with --steps 10"));
}

TEST_F(Checkpointed, WhatCannotBeIsRefusedBeforeTraining) {
  const auto refusal = [&](const std::string& flags) {
    const Ended ended = run(flags);
    EXPECT_EQ(ended.code, 2) << flags;
    return ended.text;
  };
  EXPECT_THAT(refusal("--checkpoint " + path("c")), HasSubstr("need each other"));
  EXPECT_THAT(refusal("--checkpoint-every 3"), HasSubstr("need each other"));
  EXPECT_THAT(refusal("--checkpoint-every -1 --checkpoint " + path("c")), HasSubstr("-1"));
  EXPECT_THAT(refusal("--checkpoint-every 3 --checkpoint " + path("out")), HasSubstr("the same folder"));
  EXPECT_THAT(refusal("--resume " + path("nowhere")), HasSubstr("is neither a folder of checkpoints nor a manifest"));
  EXPECT_THAT(refusal("--resume " + scratch.path().string()), HasSubstr("holds no checkpoint"));
  scratch.file("file", "");
  EXPECT_THAT(refusal("--checkpoint-every 3 --checkpoint " + path("file/c")), HasSubstr("file/c"));
  EXPECT_FALSE(fs::exists(scratch / "out"));
  ASSERT_EQ(run(every_3).code, 0);
  EXPECT_THAT(refusal(every_3), HasSubstr("holds checkpoints already, the last after step 10; go on from it with "
                                          "--resume, or give another folder"));
  EXPECT_THAT(refusal("--trace --resume " + path("c")), HasSubstr("no checkpoint holds spans"));
}

TEST_F(Checkpointed, AStudyLeavesNone) {
  const auto file = scratch.file("s.cfg", "[run]\nworkload = quadratic\ncheckpoint = c\ncheckpoint-every = 1\n");
  const Ended ended = program("study " + file.string() + " --out " + path("s"));
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.text, HasSubstr("a run of a study leaves no checkpoints"));
}

}  // namespace
}  // namespace trigram
