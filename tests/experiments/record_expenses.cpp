// Joules and dollars of runs against closed forms, and on the way to a study's goal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "tests/experiments/program_rig.hpp"

namespace trigram::testing::record_expenses_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class WithExpenses : public ::testing::Test {
 protected:
  Ended run(const std::string& flags) { return program("run " + flags + " --out " + (scratch_ / "run").string()); }
  nlohmann::json summary() const { return nlohmann::json::parse(text_of(scratch_ / "run/run.json")).at("summary"); }

  Scratch scratch_;
};

// Four steps of 0.25 s on the GPU and 0.5 s of its host: 1 s at 300 W, 2 s at 50 W, 3 s at a dollar each.
TEST_F(WithExpenses, OfOneRankThatComputes) {
  const Ended ended =
      run("--workload vgg16:compute=0.25s --steps 4 --cluster two_by_four:nodes=1,gpus_per_node=1,step_overhead=0.5s,"
          "gpu_busy_power=300W,gpu_idle_power=50W,gpu_price=3600USD/h");
  ASSERT_EQ(ended.code, 0) << ended.text;
  EXPECT_NEAR(summary().at("energy_J"), 400, 1e-9);
  EXPECT_NEAR(summary().at("money_USD"), 3, 1e-9);
  EXPECT_THAT(ended.text, HasSubstr("  energy     400 J\n  money      3 USD\n"));
}

// Five rings of two ranks, each of which sends 100 MB at 1 GB/s: both wait for 0.5 s at 50 W and send 1 GB in all.
TEST_F(WithExpenses, OfAnAllReduce) {
  for (const char* fidelity : {"exact", "fluid"}) {
    const Ended ended = run(std::string("--workload tensor:size=100MB --steps 5 --fidelity ") + fidelity +
                            " --cluster two_by_four:nodes=2,gpus_per_node=1,nic_bandwidth=8Gbps,nic_latency=1ns,"
                            "gpu_busy_power=300W,gpu_idle_power=50W,nic_energy=1nJ/B,transfer_price=0.02USD/GB");
    ASSERT_EQ(ended.code, 0) << ended.text;
    EXPECT_NEAR(summary().at("energy_J"), 2 * 0.5 * 50 + 1, 0.01) << fidelity;
    EXPECT_NEAR(summary().at("money_USD"), 0.02, 1e-12) << fidelity;
  }
}

TEST_F(WithExpenses, AClusterWithoutRatesHasNoColumns) {
  const Ended ended = run("--workload quadratic --steps 2");
  ASSERT_EQ(ended.code, 0) << ended.text;
  EXPECT_TRUE(summary().at("energy_J").is_null());
  EXPECT_THAT(ended.text, Not(HasSubstr("energy")));
  EXPECT_THAT(text_of(scratch_ / "run/evals.csv"), Not(HasSubstr("energy")));
}

TEST_F(WithExpenses, BytesThatCrossNothingAreAWarning) {
  EXPECT_THAT(run("--workload quadratic --steps 2 --cluster two_by_four:nodes=1,transfer_price=1USD/GB").text,
              HasSubstr("'transfer_price' has no influence: all ranks are on one node"));
}

/// The first row's cells by the names in the header.
std::map<std::string, std::string> first_row(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string names, cells;
  std::getline(file, names);
  std::getline(file, cells);
  std::istringstream of_names(names), of_cells(cells);
  std::map<std::string, std::string> row;
  for (std::string name, cell; std::getline(of_names, name, ',') && std::getline(of_cells, cell, ',');)
    row[name] = cell;
  return row;
}

// Eight GPUs at a dollar a second each, from the beginning to the evaluation that meets the goal.
TEST_F(WithExpenses, AStudySaysWhatItsGoalTakes) {
  const auto file = scratch_.file("s.cfg",
                                  "[run]\nworkload = quadratic\nsteps = 40\nevaluate-every = 5\n"
                                  "cluster = two_by_four:gpu_price=1USD/s\n[goal]\nloss = 1\n[row.a]\nlr = 0.1\n");
  const Ended ended = program("study " + file.string() + " --plot off --out " + (scratch_ / "study").string());
  ASSERT_EQ(ended.code, 0) << ended.text;
  EXPECT_THAT(ended.text, HasSubstr("money_USD: median [range]"));
  auto row = first_row(scratch_ / "study/runs.csv");
  const double seconds = std::stod(row["time_to_goal_s"]);
  EXPECT_GT(seconds, 0);
  EXPECT_NEAR(std::stod(row["money_USD_to_goal"]), 8 * seconds, 1e-8);
  EXPECT_FALSE(row.contains("energy_J_to_goal"));
}

}  // namespace
}  // namespace trigram::testing::record_expenses_test
