// trigram calibrate --from: what made the measurements is found again from them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "core/values/units.hpp"
#include "experiments/fit/predictions/predictor.hpp"
#include "tests/experiments/program_rig.hpp"

namespace trigram::testing::program_calibrate_from_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class CalibratedFrom : public ::testing::Test {
 protected:
  /// Rows of "flag,...": their seconds on `cluster`, each off by a factor of its own, as a table with a column more.
  std::filesystem::path measured_on(const std::string& cluster, const std::string& heading,
                                    const std::vector<std::string>& rows, double noise) {
    std::string asked = heading + ",seconds\n";
    for (const std::string& row : rows) asked += row + ",1\n";
    const std::vector<Measurement> table = read_measurements(scratch_.file("asked.csv", asked));
    std::vector<PlannedMeasurement> planned;
    for (const Measurement& row : table) planned.push_back({&row, cluster, {}});
    const std::vector<Predicted> predicted = Predictor(2).predict(planned);
    std::mt19937 random(1);
    std::normal_distribution<double> off(0, 1);
    std::string text = heading + ",seconds\n";
    for (std::size_t i = 0; i < rows.size(); ++i)
      text += rows[i] + "," + std::to_string(predicted[i].seconds * std::exp(noise * off(random))) + "\n";
    return scratch_.file("measured.csv", text);
  }

  Ended calibrate(const std::filesystem::path& table, const std::string& flags) {
    return program("calibrate --from " + table.string() + " --out " + file().string() + " " + flags);
  }
  std::filesystem::path file() const { return scratch_ / "mine.cfg"; }

  Scratch scratch_;
};

const std::vector<std::string> benches{"a,all_reduce,64MiB", "a,exchange,256MiB", "b,all_gather,128MiB",
                                       "b,all_reduce,256MiB"};

TEST_F(CalibratedFrom, BenchesGiveBackAWire) {
  const auto table = measured_on("two_by_four:gpus_per_node=1,nic_efficiency=0.7", "source,op,size", benches, 0.01);
  const Ended ended = calibrate(table, "--cluster two_by_four:gpus_per_node=1 --fit nic_efficiency");
  ASSERT_EQ(ended.code, 0) << ended.text;
  const Settings found = read_settings(file());
  EXPECT_NEAR(parse_quantity(found.at("nic_efficiency") + "s", Unit::seconds), 0.7, 0.02);
  EXPECT_EQ(found.at("gpus_per_node"), "1") << "what is not fitted stays";
  EXPECT_THAT(text_of(file()), AllOf(HasSubstr("# nic_efficiency = 0."), HasSubstr("with 95 % from 0.6"),
                                     HasSubstr("of each source when it is left out"),
                                     HasSubstr("\ncalibration_error = all/4/"), HasSubstr(" bandwidth/4/")));
  const Ended bench = program("bench --max-size 4KiB --cluster " + file().string());
  EXPECT_EQ(bench.code, 0) << bench.text;
  EXPECT_THAT(bench.text, HasSubstr("error bar (%)"));
}

// One step of two ranks takes no time to simulate; without compute nothing hides behind it.
TEST_F(CalibratedFrom, RunsGiveBackAWire) {
  const std::string cluster = "two_by_four:gpus_per_node=1";
  const auto table = measured_on(cluster + ",nic_efficiency=0.4", "workload,bucket-size,steps",
                                 {"resnet50:compute=1us,1GiB,1", "vgg16:compute=1us,1GiB,1"}, 0);
  const Ended ended = calibrate(table, "--cluster " + cluster + " --fit nic_efficiency");
  ASSERT_EQ(ended.code, 0) << ended.text;
  EXPECT_EQ(read_settings(file()).at("nic_efficiency"), "0.4");
}

TEST_F(CalibratedFrom, NamesWhatRowsCannotTellApart) {
  const std::string cluster = "two_by_four:gpus_per_node=1";
  const auto table = measured_on(cluster, "op,size", {"exchange,64MiB", "all_reduce,64MiB", "all_gather,1GiB"}, 0);
  const Ended ended = calibrate(table, "--cluster " + cluster + " --fit nic_bandwidth=1Gbps:100Gbps,nic_efficiency");
  ASSERT_EQ(ended.code, 0) << ended.text;
  EXPECT_THAT(ended.text, HasSubstr("nic_bandwidth and nic_efficiency cannot be told apart"));
  EXPECT_THAT(text_of(file()), HasSubstr("# nic_bandwidth and nic_efficiency cannot be told apart"));
}

TEST_F(CalibratedFrom, IsRefusedBeforeAnythingIsSimulated) {
  const auto refused = [&](const std::string& table, const std::string& flags, const std::string& message) {
    const Ended ended = calibrate(scratch_.file("wrong.csv", table), flags);
    EXPECT_EQ(ended.code, 2) << ended.text;
    EXPECT_THAT(ended.text, AllOf(HasSubstr(message), Not(HasSubstr("fitted (s)"))));
    EXPECT_FALSE(std::filesystem::exists(file()));
  };
  refused("seconds\n1\n2\n", "", "--from TABLE and --fit PARAMETERS need each other");
  refused("seconds\n1\n2\n", "--fit nic_windw", "--fit: 'nic_windw' (did you mean 'nic_window'?) is no number");
  refused("seconds\n1\n2\n", "--fit nic_window,nic_window", "--fit: nic_window is given twice");
  refused("seconds\n1\n2\n", "--fit timeout", "no physical range of 'timeout' is known; give one: timeout=LEAST:MOST");
  refused("seconds\n1\n2\n", "--fit nic_window=1KiB", "has no range");
  refused("seconds\n1\n", "--fit nic_window", "1 parameters need more than 1 measurements");
  refused("seconds,lanes\n1,1\n2,none\n", "--fit nic_window", "wrong.csv:3: the run: lanes=none is not a whole number");
  refused("seconds,op,size\n1,all_redcue,4B\n1,barrier,0\n", "--fit nic_window",
          "wrong.csv:2: column 'op': unknown operation 'all_redcue'");
  refused("seconds,op,size\n1,barrier,0\n1,all_reduce,1B\n", "--fit nic_window",
          "wrong.csv:3: column 'size': 1B is less than one element");
  refused("seconds,cluster.nic_window\n1,\n1,4KiB\n", "--fit nic_window",
          "wrong.csv:3: column 'cluster.nic_window': a row cannot give what is fitted");
  refused("seconds\n1\n2\n", "--fit nic_window --backend mpi", "--from simulates what was measured");
}

}  // namespace
}  // namespace trigram::testing::program_calibrate_from_test
