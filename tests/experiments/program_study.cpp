// Folders of studies: what keeps them whole when processes die, files change, or two studies meet.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>

#include "core/training/backend.hpp"
#include "experiments/record/resume/folder_lock.hpp"
#include "tests/experiments/program_rig.hpp"

namespace trigram {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

class StudyFolder : public Simulating {
 protected:
  /// A study of runs that take no time.
  Ended study(const std::string& rows, const std::string& out = "s") {
    const auto file = scratch.file("s.cfg", "[run]\nworkload = quadratic\nsteps = 2\n" + rows);
    return program("study " + file.string() + " --jobs 2 --plot off --out " + (scratch / out).string());
  }
  /// The folders of its runs.
  std::vector<fs::path> runs(const std::string& out = "s") const {
    std::vector<fs::path> folders;
    if (!fs::exists(scratch / (out + "/runs"))) return folders;
    for (const auto& entry : fs::directory_iterator(scratch / (out + "/runs"))) folders.push_back(entry.path());
    std::sort(folders.begin(), folders.end());
    return folders;
  }
};

const char* const two_rows = "[row.a]\nalgorithm = all_reduce\n[row.b]\nalgorithm = decentralized\n";

TEST_F(StudyFolder, KilledAndContinuedItIsAsIfNothingHadBeen) {
  const std::string rows = "[sweep]\nseed = 1:6:1\n" + std::string(two_rows);
  ASSERT_EQ(study(rows, "whole").code, 0);
  for (const std::size_t finished : {0U, 1U, 4U, 7U}) {
    const auto file = scratch.file("s.cfg", "[run]\nworkload = quadratic\nsteps = 2\n" + rows);
    const pid_t pid = ::fork();
    if (pid == 0) {
      const std::string out = (scratch / "killed").string();
      ::execl(program_path().c_str(), "trigram", "study", file.c_str(), "--jobs=2", "--plot=off", "--out", out.c_str(),
              nullptr);
      ::_exit(127);
    }
    const auto done = [&] {
      const std::vector<fs::path> all = runs("killed");
      return static_cast<std::size_t>(
          std::count_if(all.begin(), all.end(), [](const fs::path& run) { return fs::exists(run / "run.json"); }));
    };
    while (!fs::exists(scratch / "killed") || done() < finished) ::usleep(1000);
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
  const Ended last = study(rows, "killed");
  EXPECT_EQ(last.code, 0) << last.text;
  EXPECT_EQ(text_of(scratch / "killed/runs.csv"), text_of(scratch / "whole/runs.csv"));
  EXPECT_FALSE(fs::exists(scratch / "killed/.lock"));
}

TEST_F(StudyFolder, OfAMapSaysWhatToUseOnTheClustersOwnNetwork) {
  const Ended ended = study(
      "[sweep]\ncluster.nic_bandwidth = 1Gbps 2Gbps\ncluster.nic_latency = 1us 5us\n[map]\nagainst = a\nerror = 0.01\n"
      "[goal]\nloss = 1e9\n[learning]\nsteps = 3\n" +
      std::string(two_rows) + "[row.never]\nalgorithm = local_sgd:every=1000\n");
  ASSERT_EQ(ended.code, 0) << ended.text;
  EXPECT_EQ(runs().size(), 3U * (4 + 1 + 1));
  EXPECT_THAT(ended.text, HasSubstr("on this network (cluster.nic_bandwidth 25Gbps, cluster.nic_latency "));
  EXPECT_THAT(ended.text, HasSubstr(") use never for short iterations: the fastest is never, "));
  EXPECT_THAT(ended.text, HasSubstr("steps to a loss of 1e+09, from one run each: a 0, b 0, never 0"));
  EXPECT_THAT(text_of(scratch / "s/winners.csv"), HasSubstr("iteration,1Gbps,1us,never,"));
}

TEST_F(StudyFolder, OfAMapLearnsOnceForEachSeed) {
  const Ended ended = study(
      "[sweep]\ncluster.nic_bandwidth = 1Gbps 2Gbps\ncluster.nic_latency = 1us 5us\n[map]\nagainst = a\n"
      "[goal]\nloss = 1e-9\n[learning]\nsteps = 3\nseeds = 5 6 7\n" +
      std::string(two_rows));
  ASSERT_EQ(ended.code, 0) << ended.text;
  EXPECT_EQ(runs().size(), 2U * (4 + 1 + 3));
  EXPECT_THAT(ended.text, HasSubstr("from 3 runs each, median and range: a never (never), b never (never)"));
  EXPECT_THAT(text_of(scratch / "s/runs.csv"), HasSubstr(",learning,,,7,"));
}

TEST_F(StudyFolder, TakesFlagsOfRunsInPlaceOfItsOwn) {
  const auto file = scratch.file("s.cfg", "[run]\nworkload = quadratic\nsteps = 2\n[row.a]\nlr = 0.5\n");
  const std::string command = "study " + file.string() + " --plot off --out " + (scratch / "s").string();
  ASSERT_EQ(program(command + " --steps 3 --lr 0.25 --cluster two_by_four:nodes=1").code, 0);
  const auto flags = nlohmann::json::parse(text_of(runs()[0] / "run.json"))["configuration"]["flags"];
  EXPECT_EQ(flags["steps"], "3");
  EXPECT_EQ(flags["cluster"], "two_by_four:nodes=1");
  EXPECT_EQ(flags["lr"], "0.5") << "a row wins";
}

TEST_F(StudyFolder, RefusesAFlagOfRunsThatItSweepsWithAnother) {
  const auto file = scratch.file("s.cfg", "[run]\nworkload = quadratic\n[sweep]\nlr&seed = 0.1&1 0.2&2\n[row.a]\n");
  const Ended ended = program("study " + file.string() + " --seed 5 --plot off --out " + (scratch / "s").string());
  EXPECT_EQ(ended.code, 2) << ended.text;
  EXPECT_THAT(ended.text, HasSubstr("--seed=5 would be for all runs, but "));
  EXPECT_THAT(ended.text, HasSubstr("s.cfg sweeps it; leave it out, or change [sweep] there"));
}

TEST_F(StudyFolder, IsOneStudysAtATime) {
  fs::create_directory(scratch / "s");
  Ended second;
  {
    const FolderLock lock(scratch / "s", "a study");
    second = study(two_rows);
  }
  EXPECT_EQ(second.code, 2);
  EXPECT_THAT(second.text, HasSubstr("/s' is in use by a study, process " + std::to_string(::getpid()) + " on "));
  EXPECT_TRUE(fs::is_empty(scratch / "s"));
  EXPECT_EQ(study(two_rows).code, 0);
}

TEST_F(StudyFolder, ARunThatCannotBeReadIsNamedAndMadeAgain) {
  ASSERT_EQ(study(two_rows).code, 0);
  const std::string before = text_of(scratch / "s/runs.csv");
  const fs::path broken = runs()[0] / "run.json";
  const std::string whole = text_of(broken), other = text_of(runs()[1] / "run.json");
  auto empty_curve = nlohmann::json::parse(whole);
  empty_curve["curve"] = {{{"step", "two"}}};
  const std::vector<std::pair<std::string, std::string>> cases = {{"", "it is empty"},
                                                                  {whole.substr(0, 100), "it is no whole JSON"},
                                                                  {"[]", "it is no record of a run"},
                                                                  {empty_curve.dump(), "it is no record of a run"},
                                                                  {other, "it is of another run"}};
  for (const auto& [text, problem] : cases) {
    std::ofstream(broken) << text;
    const Ended again = study(two_rows);
    EXPECT_EQ(again.code, 0) << again.text;
    EXPECT_THAT(again.text, HasSubstr("trigram: " + broken.string() + ": " + problem + "; the run is made again\n"));
    EXPECT_THAT(again.text, HasSubstr("1/1 runs"));
    EXPECT_EQ(text_of(scratch / "s/runs.csv"), before);
  }
  fs::remove(broken);
  ASSERT_EQ(::symlink("/dev/zero", broken.c_str()), 0);
  EXPECT_THAT(study(two_rows).text, HasSubstr("it is no regular file; the run is made again"));
}

TEST_F(StudyFolder, AnEditedInputMakesItsRunsAgain) {
  const auto data = [&](const char* last) {
    return scratch.file("d.csv", std::string("0,1,0\n1,0,1\n0.5,1,0\n") + last).string();
  };
  const std::string path = data("1,0.5,1\n");
  const std::string rows = "[row.a]\nworkload = mlp:data=(csv:train=" + path + ",test=" + path + "),hidden=2,batch=2\n";
  const Ended first = study(rows);
  ASSERT_EQ(first.code, 0) << first.text;
  EXPECT_THAT(study(rows).text, ::testing::Not(HasSubstr("made again")));
  data("1,0.75,1\n");
  const Ended again = study(rows);
  EXPECT_THAT(again.text, HasSubstr("it was made from another content of '" + path + "'; the run is made again"));
  const auto run = nlohmann::json::parse(text_of(runs()[0] / "run.json"));
  EXPECT_TRUE(run["inputs"].contains(path));
}

TEST_F(StudyFolder, EveryRowIsCheckedBeforeTheFirstRun) {
  const Ended value = study("[row.good]\nlr = 0.1\n[row.bad]\nalgorithm = telepathy\n");
  EXPECT_EQ(value.code, 2);
  EXPECT_THAT(value.text, HasSubstr("s.cfg:6: row 'bad': unknown algorithm 'telepathy'"));
  EXPECT_FALSE(fs::exists(scratch / "s"));
  const Ended key = study("[row.good]\nlr = 0.1\n[variant.fast]\nrows = good\nspeed = 9\n");
  EXPECT_EQ(key.code, 2);
  EXPECT_THAT(key.text, HasSubstr("s.cfg:6: row 'good', variant 'fast': "));
  EXPECT_THAT(key.text, HasSubstr("speed"));
  const Ended later = study("[row.good]\nlr = 0.1\n[selection]\nchoose = lr\nfrom = 0.1 fast\nseeds = 1 2\n");
  EXPECT_EQ(later.code, 2);
  EXPECT_THAT(later.text, HasSubstr("s.cfg:4: row 'good': the run: lr=fast"));
  EXPECT_FALSE(fs::exists(scratch / "s"));
}

TEST_F(StudyFolder, ARunsFailureNamesItsRow) {
  const Ended ended = study("cluster = two_by_four:faults=1us/nic/0\n[row.a]\nsteps = 3\n");
  EXPECT_EQ(ended.code, 1) << ended.text;
  EXPECT_THAT(ended.text,
              HasSubstr("1 of 1 runs failed; the first: " + (scratch / "s.cfg").string() + ":5: row 'a': "));
  EXPECT_THAT(ended.text, HasSubstr("log.txt)"));
}

TEST_F(StudyFolder, ARunWithoutATraceLeavesNoOlderOne) {
  const std::string run = "run --workload quadratic --steps 2 --out " + (scratch / "r").string();
  ASSERT_EQ(program(run + " --trace").code, 0);
  EXPECT_TRUE(fs::exists(scratch / "r/trace.json"));
  ASSERT_EQ(program(run).code, 0);
  EXPECT_FALSE(fs::exists(scratch / "r/trace.json"));
}

TEST_F(StudyFolder, AFailedMeasurementKeepsTheOlderFile) {
  scratch.file("b.csv", "old");
  const Ended ended =
      program("bench --cluster two_by_four:faults=1us/nic/0 --max-size 4KiB --out " + (scratch / "b.csv").string());
  EXPECT_NE(ended.code, 0);
  EXPECT_EQ(text_of(scratch / "b.csv"), "old");
}

}  // namespace
}  // namespace trigram
