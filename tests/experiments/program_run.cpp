// Whole runs and studies in the simulator, on a quadratic so that they are short.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "core/training/backend.hpp"
#include "tests/experiments/program_rig.hpp"

namespace trigram {
namespace {

using ::testing::HasSubstr;

class Simulated : public Simulating {
 protected:
  std::string short_run = "run --workload quadratic --steps 4 --evaluate-every 2 --lr 0.01 ";
};

/// The cells of a table; those that are no numbers are 0.
std::vector<std::vector<double>> numbers(const std::filesystem::path& csv) {
  std::vector<std::vector<double>> rows;
  for (const auto& row : rows_of(csv)) {
    rows.emplace_back();
    for (const std::string& cell : row) rows.back().push_back(std::strtod(cell.c_str(), nullptr));
  }
  return rows;
}

TEST_F(Simulated, WritesItsFiles) {
  const Ended ended = program(short_run + "--record all --trace --out " + (scratch / "a").string());
  ASSERT_EQ(ended.code, 0) << ended.text;
  const auto run = nlohmann::json::parse(text_of(scratch / "a/run.json"));
  EXPECT_EQ(run["configuration"]["flags"]["steps"], "4");
  EXPECT_EQ(run["configuration"]["ranks"], 8);
  for (const char* key : {"iteration_s", "samples_per_s", "bytes_per_step_mean", "bytes_per_step_largest", "loss",
                          "simulated_s", "wall_s"}) {
    EXPECT_TRUE(run["summary"][key].is_number()) << key;
  }
  EXPECT_EQ(numbers(scratch / "a/evals.csv").size(), 3U);
  const auto rows = numbers(scratch / "a/steps.csv");
  ASSERT_EQ(rows.size(), 4U * 8U);
  EXPECT_FALSE(nlohmann::json::parse(text_of(scratch / "a/trace.json"))["traceEvents"].empty());
}

TEST_F(Simulated, ComputeAndExposedSecondsAreTheStep) {
  ASSERT_EQ(program(short_run + "--out " + (scratch / "a").string()).code, 0);
  const auto rows = numbers(scratch / "a/steps.csv");
  ASSERT_EQ(rows.size(), 4U);
  const std::string head = text_of(scratch / "a/steps.csv");
  ASSERT_TRUE(head.starts_with(
      "step,rank,time_s,loss,bytes_sent,bytes_between_nodes,compute_s,encode_s,wire_s,decode_s,exposed_s\n"));
  for (std::size_t i = 1; i < rows.size(); ++i)
    EXPECT_NEAR(rows[i][6] + rows[i][10], rows[i][2] - rows[i - 1][2], 1e-12);
}

TEST_F(Simulated, FlagsWinOverTheFile) {
  const auto file = scratch.file("a.cfg", "steps = 9\nlr = 0.02\ncluster.nic_bandwidth = 3Gbps\n");
  ASSERT_EQ(
      program("run --workload quadratic --steps 2 --config " + file.string() + " --out " + (scratch / "a").string())
          .code,
      0);
  const auto run = nlohmann::json::parse(text_of(scratch / "a/run.json"));
  EXPECT_EQ(run["configuration"]["flags"]["steps"], "2");
  EXPECT_EQ(run["configuration"]["flags"]["lr"], "0.02");
  EXPECT_EQ(run["configuration"]["cluster"]["nic_bandwidth"], "3Gbps");
}

TEST_F(Simulated, ANameOfTheLiteratureIsRecordedWithWhatItStandsFor) {
  const std::string run = "run --workload quadratic --steps 4 --cluster two_by_four --out ";
  ASSERT_EQ(program(run + (scratch / "name").string() + " --algorithm dcd_psgd:codec=bf16").code, 0);
  ASSERT_EQ(program(run + (scratch / "spec").string() + " --algorithm low_precision_decentralized:codec=bf16").code, 0);
  const auto named = nlohmann::json::parse(text_of(scratch / "name/run.json"));
  EXPECT_EQ(named["configuration"]["flags"]["algorithm"], "dcd_psgd:codec=bf16");
  EXPECT_EQ(named["configuration"]["algorithm"], "low_precision_decentralized:codec=bf16,topology=ring");
  EXPECT_EQ(text_of(scratch / "name/steps.csv"), text_of(scratch / "spec/steps.csv"));
}

TEST_F(Simulated, AFolderThatCannotBeIsRefusedBeforeTraining) {
  scratch.file("file", "");
  const Ended ended = program(short_run + "--steps 4 --out " + (scratch / "file/a").string());
  EXPECT_EQ(ended.code, 2) << ended.text;
  const Ended once = program("run --workload quadratic --out " + (scratch / "file/a").string());
  EXPECT_EQ(once.code, 2);
  EXPECT_THAT(once.text, HasSubstr("file/a"));
}

TEST_F(Simulated, ASimGridPlatformIsAClusterToo) {
  const std::string hosts =
      "<host id='a' speed='1Gf'/><host id='b' speed='1Gf'/><link id='l' bandwidth='1GBps' "
      "latency='10us'/><route src='a' dst='b'><link_ctn id='l'/></route>";
  const auto platform = [&](const std::string& name, const std::string& end) {
    return scratch
        .file(name,
              "<?xml version='1.0'?><!DOCTYPE platform SYSTEM "
              "\"https://simgrid.org/simgrid.dtd\"><platform version='4.1'><zone id='z' routing='Full'>" +
                  hosts + end)
        .string();
  };
  const std::string out = " --out " + (scratch / "a").string();
  const Ended two = program(short_run + "--ranks 2 --cluster " + platform("two.xml", "</zone></platform>") + out);
  EXPECT_EQ(two.code, 0) << two.text;
  EXPECT_EQ(numbers(scratch / "a/steps.csv").size(), 4U);
  const Ended broken = program(short_run + "--ranks 2 --cluster " + platform("broken.xml", "</zone>") + out);
  EXPECT_EQ(broken.code, 2);
  EXPECT_THAT(broken.text, HasSubstr("broken.xml"));
}

TEST_F(Simulated, BenchSeesALinkThatDiffersAmongManyRanks) {
  const std::string many = "bench --min-size 1MiB --max-size 1MiB --cluster two_by_four:nodes=160,gpus_per_node=1,";
  EXPECT_THAT(program(many + "fidelity=fluid").text, HasSubstr("# closed form: 2(p-1) alpha"));
  EXPECT_THAT(program(many + "fidelity=fluid,changes=0s/nic_bandwidth/77/1Gbps").text, HasSubstr("# no closed form"));
}

TEST_F(Simulated, BenchOverlapsThePhasesOfAHierarchyByChunks) {
  const auto seconds = [&](const std::string& more) {
    EXPECT_EQ(
        program(
            "bench --cluster two_by_four:node_bandwidth=2GB/s --hierarchy all_nics --min-size 64MiB --max-size 64MiB " +
            more + " --out " + (scratch / "b.csv").string())
            .code,
        0);
    return numbers(scratch / "b.csv").at(0).at(3);
  };
  EXPECT_LT(seconds("--hierarchy-chunks 8"), 0.9 * seconds(""));
  EXPECT_THAT(program("bench --hierarchy-chunks 8").text, HasSubstr("there is no hierarchy"));
}

TEST_F(Simulated, BenchMeetsTheClosedFormOnOneGpuANode) {
  const std::string cluster =
      " --cluster two_by_four:nodes=4,gpus_per_node=1 --max-size 1MiB --factor 4 --out " + (scratch / "b.csv").string();
  for (const char* op : {"all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast", "reduce", "gather",
                         "scatter", "exchange"}) {
    ASSERT_EQ(program(std::string("bench --op ") + op + cluster).code, 0);
    const auto rows = numbers(scratch / "b.csv");
    ASSERT_FALSE(rows.empty());
    for (const auto& row : rows) {
      EXPECT_GT(row[6], 0) << op << " has a closed form";
      EXPECT_LT(std::abs(row[7]), 1e-4) << op << " of " << row[0] << " bytes";
    }
  }
}

const char* const study_text = R"([run]
workload = quadratic
steps = 2
[sweep]
cluster.nic_bandwidth = 1Gbps 2Gbps
[row.all_reduce]
algorithm = all_reduce
[row.decentralized]
algorithm = decentralized
)";

TEST_F(Simulated, AStudyContinuesWhereItWas) {
  const auto file = scratch.file("s.cfg", study_text);
  const std::string command = "study " + file.string() + " --plot off --out " + (scratch / "s").string();
  const Ended first = program(command);
  ASSERT_EQ(first.code, 0) << first.text;
  EXPECT_EQ(numbers(scratch / "s/runs.csv").size(), 4U);
  std::vector<std::filesystem::path> folders;
  for (const auto& entry : std::filesystem::directory_iterator(scratch / "s/runs")) folders.push_back(entry.path());
  ASSERT_EQ(folders.size(), 4U);
  std::filesystem::remove(folders[0] / "run.json");
  const auto kept = std::filesystem::last_write_time(folders[1] / "run.json");
  const Ended second = program(command);
  EXPECT_THAT(second.text, HasSubstr("1/1 runs"));
  EXPECT_TRUE(std::filesystem::exists(folders[0] / "run.json"));
  EXPECT_EQ(std::filesystem::last_write_time(folders[1] / "run.json"), kept);
}

TEST_F(Simulated, AStudyThatNamesWhatIsNotThereEndsWith2) {
  const auto file = scratch.file("s.cfg", "[run]\nalgorithm = telepathy\n");
  const Ended ended = program("study " + file.string() + " --out " + (scratch / "s").string());
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.text, HasSubstr("unknown algorithm 'telepathy'"));
  EXPECT_FALSE(std::filesystem::exists(scratch / "s/runs.csv"));
}

TEST_F(Simulated, AnInterruptedStudyLeavesWhatCanBeContinued) {
  std::string text = study_text;
  text.replace(text.find("steps = 2"), 9, "steps = 20000");
  const auto file = scratch.file("s.cfg", text);
  const std::string command =
      "exec " + program_path() + " study " + file.string() + " --plot off --out " + (scratch / "s").string();
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::execl("/bin/sh", "sh", "-c", (command + " 2>/dev/null >/dev/null").c_str(), nullptr);
    ::_exit(127);
  }
  while (!std::filesystem::exists(scratch / "s/runs")) ::usleep(1000);
  ::kill(pid, SIGINT);
  int status = 0;
  ::waitpid(pid, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130);
  EXPECT_FALSE(std::filesystem::exists(scratch / "s/runs.csv"));
  text.replace(text.find("steps = 20000"), 13, "steps = 2");
  scratch.file("s.cfg", text);
  EXPECT_EQ(program("study " + file.string() + " --plot off --out " + (scratch / "s").string()).code, 0);
}

}  // namespace
}  // namespace trigram
