// Runs on threads of this process, as people start them: the simulator's bits, checkpoints, and an end that was asked
// for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/training/backend.hpp"
#include "tests/experiments/program_rig.hpp"

namespace trigram {
namespace {

using ::testing::HasSubstr;

class OnThreads : public ::testing::Test {
 protected:
  nlohmann::json run(const std::string& name, const std::string& flags) const {
    const Ended ended = program("run --workload quadratic --lr 0.01 --ranks 8 " + flags + " --out " + path(name));
    EXPECT_EQ(ended.code, 0) << ended.text;
    return nlohmann::json::parse(text_of(scratch / name / "run.json"), nullptr, false);
  }
  std::string path(const std::string& name) const { return (scratch / name).string(); }
  std::vector<std::string> losses(const std::string& name) const {
    std::vector<std::string> all;
    for (const auto& row : rows_of(scratch / name / "steps.csv")) all.push_back(row[3]);
    return all;
  }
  Scratch scratch;
  const std::string threads = "--backend threads --ranks-per-node 4 ";
};

TEST_F(OnThreads, TrainingHasTheSimulatorsBits) {
  if (!Backends::has("sim")) GTEST_SKIP() << "this build has no simulator";
  for (const std::string flags : {"--algorithm bytegrad --hierarchy leader --steps 6 ",
                                  "--algorithm decentralized:topology=ring --lanes 2 --steps 6 "}) {
    const nlohmann::json real = run("real", threads + flags), simulated = run("simulated", "--backend sim " + flags);
    EXPECT_EQ(real["weights"], simulated["weights"]) << flags;
    EXPECT_EQ(losses("real"), losses("simulated")) << flags;
    EXPECT_EQ(losses("real").size(), 6U);
  }
}

TEST_F(OnThreads, TrainingGoesOnFromACheckpoint) {
  const nlohmann::json at_once = run("at_once", threads + "--steps 8");
  run("begun", threads + "--steps 4 --checkpoint-every 4 --checkpoint " + path("kept"));
  const nlohmann::json resumed = run("resumed", threads + "--steps 8 --resume " + path("kept"));
  EXPECT_EQ(resumed["resumed"]["steps"], 4);
  EXPECT_EQ(resumed["weights"], at_once["weights"]);
}

TEST_F(OnThreads, ASignalEndsAllRanksAndLeavesTheirRows) {
  const std::string said = path("said"), rows = path("kept") + "/*.json";  // of which the last alone is kept
  const Ended ended =
      shell(program_path() + " run --workload quadratic --lr 0.001 --ranks 3 --steps 5000000 " + threads +
            "--checkpoint " + path("kept") + " --checkpoint-every 20 --out " + path("ended") + " >" + said +
            " 2>&1 & pid=$!\nuntil ls " + rows +
            " >/dev/null || ! kill -0 $pid; do sleep 0.02; done 2>/dev/null\nkill -TERM $pid; wait $pid; "
            "code=$?; cat " +
            said + "; exit $code");
  EXPECT_EQ(ended.code, 143) << ended.text;
  EXPECT_THAT(ended.text, HasSubstr("trigram: interrupted by signal 15"));
  const auto run = nlohmann::json::parse(text_of(scratch / "ended" / "run.json"), nullptr, false);
  EXPECT_THAT(run.value("stopped", ""), HasSubstr(" of 5000000"));
}

TEST_F(OnThreads, RanksThatNoMachineHasThreadsForAreRefused) {
  const std::string tiny =
      program_path() + " run --workload quadratic --steps 2 --backend threads --out " + path("many");
  const Ended many = shell(tiny + " --ranks 257 2>&1");
  EXPECT_EQ(many.code, 2);
  EXPECT_THAT(many.text, HasSubstr("runs 256 ranks at most, all on this machine, and not 257"));
#ifndef __SANITIZE_ADDRESS__  // whose shadow memory takes more addresses than a limit leaves
  const Ended few = shell("ulimit -v 1000000; " + tiny + " --ranks 256 2>&1");  // a thread asks for 8 MiB of addresses
  EXPECT_EQ(few.code, 1);
  EXPECT_THAT(few.text, HasSubstr("this machine gives no thread for rank "));
#endif
}

}  // namespace
}  // namespace trigram
