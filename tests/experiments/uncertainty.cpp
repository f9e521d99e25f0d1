// Ranges of what is not known exactly: what files say, what is drawn from them, and what draws say together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/training/backend.hpp"
#include "core/values/error.hpp"
#include "core/values/units.hpp"
#include "experiments/fit/spread.hpp"
#include "experiments/settings/cluster.hpp"
#include "experiments/settings/places.hpp"
#include "tests/experiments/program_rig.hpp"

namespace trigram::testing::uncertainty_test {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

std::string refusal(const std::string& text) {
  try {
    uncertain_value(text);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(UncertainValue, IsAValueBetweenItsEnds) {
  const auto value = uncertain_value("25us in 15us..60us");
  ASSERT_TRUE(value);
  const auto seconds = [&](double u) { return parse_quantity(at_quantile(*value, u), Unit::seconds); };
  EXPECT_NEAR(seconds(0), 15e-6, 1e-12);
  EXPECT_NEAR(seconds(0.5), 25e-6, 1e-12);
  EXPECT_NEAR(seconds(1), 60e-6, 1e-12);
  EXPECT_NEAR(seconds(0.75), 25e-6 * std::sqrt(60.0 / 25), 1e-10);  // the logarithm is spread evenly
  EXPECT_NEAR(seconds(0.25), 25e-6 * std::sqrt(15.0 / 25), 1e-10);
  EXPECT_EQ(without_range("25us in 15us..60us"), "25us");
  EXPECT_EQ(without_range("1ms/slow/3/2"), "1ms/slow/3/2");
  EXPECT_FALSE(uncertain_value("bagua_v100:compute_slowdown=1.19 in 1..1.4")) << "it is a cluster with parameters";
  EXPECT_EQ(at_quantile(*uncertain_value("0s in 0s..4s"), 0.75), "2s") << "no factor leads away from 0";
}

// The farther end of 15 to 60 us is 60: ln(60/25) away.
TEST(UncertainValue, MovesAsItsLogarithmDoes) {
  const UncertainValue value = *uncertain_value("25us in 15us..60us");
  EXPECT_NEAR(move_at(value, 0.5), 0, 1e-12);
  EXPECT_NEAR(move_at(value, 1), 1, 1e-12);
  EXPECT_NEAR(move_at(value, 0), std::log(15.0 / 25) / std::log(60.0 / 25), 1e-9);
  EXPECT_NEAR(move_at(value, 0.75), 0.5, 1e-9);
  EXPECT_NEAR(move_at(*uncertain_value("1500B in 1500B..9001B"), 0.3), 0, 1e-12) << "the value is the least";
  EXPECT_NEAR(move_at(*uncertain_value("0s in 0s..4s"), 0.75), 0.5, 1e-12) << "no factor leads away from 0";
}

TEST(UncertainValue, StaysWholeWhereItsEndsAre) {
  const auto connections = uncertain_value("2 in 1..4");
  for (double u = 0; u <= 1; u += 0.01) EXPECT_TRUE(whole_number(at_quantile(*connections, u))) << u;
  EXPECT_EQ(at_quantile(*uncertain_value("0.8 in 0.7..0.9"), 0.5), "0.8");
}

TEST(UncertainValue, SaysWhatIsWrongWithIt) {
  EXPECT_THAT(refusal("25us in 15us..60"), HasSubstr("has no range: write VALUE in LEAST..MOST, all of one kind"));
  EXPECT_THAT(refusal("25us in 15Gbps..60Gbps"), HasSubstr("has no range"));
  EXPECT_THAT(refusal("25us in 60us..15us"), HasSubstr("does not lie in its range"));
  EXPECT_THAT(refusal("25us in 30us..60us"), HasSubstr("does not lie in its range"));
}

// Without the shift 64 points are one in each of 64 equal parts of every coordinate; it leaves the gaps as they are.
TEST(Draws, AreSpreadEvenlyInEachCoordinate) {
  const auto points = low_discrepancy_points(7, 64, 3);
  ASSERT_EQ(points.size(), 64U);
  for (std::size_t i = 0; i < 7; ++i) {
    std::vector<double> coordinates;
    for (const Point& point : points) coordinates.push_back(point[i]);
    std::ranges::sort(coordinates);
    EXPECT_GE(coordinates.front(), 0);
    EXPECT_LT(coordinates.back(), 1);
    double gap = 1 + coordinates.front() - coordinates.back();
    for (std::size_t k = 1; k < coordinates.size(); ++k) gap = std::max(gap, coordinates[k] - coordinates[k - 1]);
    EXPECT_LE(gap, 2.0 / 64 + 1e-12) << "coordinate " << i;
  }
  EXPECT_EQ(points, low_discrepancy_points(7, 64, 3));
  EXPECT_NE(points, low_discrepancy_points(7, 64, 4));
}

// Of 3u + v the variances are 9/12 and 1/12; of u + (v - 1/2)^2 they are 1/12 and 1/180.
TEST(Shares, AreThoseOfTheVariance) {
  const auto points = low_discrepancy_points(3, 256, 1);
  std::vector<double> linear, curved;
  for (const Point& point : points) {
    linear.push_back(3 * point[0] + point[1]);
    curved.push_back(point[0] + (point[1] - 0.5) * (point[1] - 0.5));
  }
  const auto of_linear = first_order_indices(points, linear), of_curved = first_order_indices(points, curved);
  EXPECT_NEAR(of_linear[0], 0.9, 0.02);
  EXPECT_NEAR(of_linear[1], 0.1, 0.02);
  EXPECT_NEAR(of_linear[2], 0, 0.01);
  EXPECT_NEAR(of_curved[0], 180.0 / 192, 0.02);
  EXPECT_NEAR(of_curved[1], 12.0 / 192, 0.02);
  EXPECT_EQ(first_order_indices(points, std::vector<double>(256, 5.0)), std::vector<double>(3, 0.0));
}

// One deviation of the normal distribution is its quantile 0.841345.
TEST(Spread, OfAnErrorIsNormalInTheLogarithm) {
  EXPECT_NEAR(factor_of_error(0.2, 0.5), 1, 1e-12);
  EXPECT_NEAR(factor_of_error(0.2, 0.841345), 1.2, 1e-5);
  EXPECT_NEAR(factor_of_error(0.2, 0.158655), 1 / 1.2, 1e-5);
}

TEST(Spread, HasQuantilesOfEvenlySpreadValues) {
  std::vector<double> values;
  for (int i = 100; i >= 0; --i) values.push_back(i);
  const Spread spread = spread_of(values);
  EXPECT_DOUBLE_EQ(spread.median, 50);
  EXPECT_NEAR(spread.of_68.least, 16, 1e-9);
  EXPECT_NEAR(spread.of_68.most, 84, 1e-9);
  EXPECT_NEAR(spread.of_95.least, 2.5, 1e-9);
  EXPECT_NEAR(spread.of_95.most, 97.5, 1e-9);
}

/// The lines of a shipped file, with the comment of the paragraph that each stands in.
struct Line {
  std::string text, comment;
};
std::vector<Line> lines_of(const std::filesystem::path& file) {
  std::istringstream stream(text_of(file));
  std::vector<Line> lines;
  std::string comment;
  for (std::string line; std::getline(stream, line);) {
    if (line.empty()) comment.clear();
    if (line.starts_with('#')) comment += line + " ";
    if (!line.empty() && !line.starts_with('#')) lines.push_back({line, comment});
  }
  return lines;
}

// A range has a source, and what a file calls an assumption has a range.
TEST(ShippedFiles, StateRangesWithTheirSources) {
  int ranges = 0;
  for (const char* kind : {"clusters", "systems"}) {
    for (const std::string& name : shipped_names(kind)) {
      std::string assumed, ranged;
      for (const Line& line : lines_of(shipped_folder(kind) / (name + ".cfg"))) {
        const bool range = uncertain_value(line.text.substr(line.text.find('=') + 2)).has_value();
        EXPECT_TRUE(!range || !line.comment.empty()) << name << ": " << line.text << " has no source";
        ranges += range ? 1 : 0;
        if (range) ranged += line.comment;
        if (line.comment.find("ssumption") != std::string::npos) assumed = line.comment;
        if (!assumed.empty() && range && line.comment == assumed) assumed.clear();
      }
      EXPECT_TRUE(assumed.empty() || ranged.find(assumed) != std::string::npos)
          << name << " assumes without a range: " << assumed;
    }
  }
  EXPECT_GE(ranges, 30);
}

class Uncertain : public Simulating {
 protected:
  /// A cable of 10 Gbps, or of half as many, or of twice as many, of which the model is known to be right.
  std::string cable() const {
    return scratch
        .file("cable.cfg",
              "nodes = 2\ngpus_per_node = 1\nnic_latency = 0s\n# what a port is sold as\n"
              "nic_bandwidth = 10Gbps in 5Gbps..20Gbps\ncalibration_error = all/9/0% bandwidth/9/0% latency/9/0%\n")
        .string();
  }
};

// 125 MB each way take 0.1 s at 10 Gbps; the 16th of 100 draws has 10·2^0.68 Gbps, the 84th as much less.
TEST_F(Uncertain, BenchHasTheQuantilesOfItsBandwidth) {
  const std::string out = (scratch / "b.csv").string();
  const Ended ended =
      program("bench --op exchange --min-size 125000000 --max-size 125000000 --uncertainty 256 --cluster " + cable() +
              " --out " + out);
  ASSERT_EQ(ended.code, 0) << ended.text;
  std::istringstream rows(text_of(out));
  std::string line;
  std::getline(rows, line);
  EXPECT_THAT(line, HasSubstr("median (us),68 % from,68 % to,95 % from,95 % to,decided by"));
  std::getline(rows, line);
  EXPECT_THAT(line, HasSubstr("cluster.nic_bandwidth"));
  std::vector<double> numbers;
  std::istringstream cells(line);
  for (std::string cell; std::getline(cells, cell, ',');) numbers.push_back(std::strtod(cell.c_str(), nullptr));
  ASSERT_EQ(numbers.size(), 16U) << line;
  EXPECT_NEAR(numbers[10], 1e5, 1e3);
  EXPECT_NEAR(numbers[11], 1e5 * std::pow(2, -0.68), 1.5e3);
  EXPECT_NEAR(numbers[12], 1e5 * std::pow(2, 0.68), 3e3);
  EXPECT_NEAR(numbers[13], 1e5 * std::pow(2, -0.95), 1e3);
  EXPECT_NEAR(numbers[14], 1e5 * std::pow(2, 0.95), 2e3);
}

TEST_F(Uncertain, RunSaysHowWideItsAnswerIsAndWhatDecides) {
  const auto run = [&](const std::string& more, const std::string& out) {
    return program("run --cluster " + cable() +
                   " --workload tensor:size=125MB --bucket-size 1TiB --overlap off --steps 2 " + more + " --out " +
                   (scratch / out).string());
  };
  const Ended plain = run("--uncertainty 0", "plain"), ended = run("--uncertainty 64", "one"),
              again = run("--uncertainty 64", "two");
  ASSERT_EQ(plain.code + ended.code + again.code, 0) << plain.text << ended.text << again.text;
  EXPECT_THAT(ended.text, ContainsRegex("median of 64 draws; 68 % .* \\(1 ranges, seed 1\\)"));
  EXPECT_THAT(ended.text, HasSubstr("decided by cluster.nic_bandwidth ("));
  EXPECT_THAT(ended.text, HasSubstr("--fit nic_bandwidth"));
  EXPECT_THAT(ended.text, ContainsRegex("arithmetic 0\\.1.* s, compute and bytes over bandwidth: inside"));
  const auto facts = nlohmann::json::parse(text_of(scratch / "one/run.json"));
  EXPECT_EQ(facts.at("uncertainty"), nlohmann::json::parse(text_of(scratch / "two/run.json")).at("uncertainty"));
  EXPECT_NEAR(facts.at("uncertainty").at("median_s").get<double>(), 0.1, 0.003);
  EXPECT_GT(facts.at("uncertainty").at("shares").at("cluster.nic_bandwidth").get<double>(), 0.9);
  const auto without = nlohmann::json::parse(text_of(scratch / "plain/run.json"));
  EXPECT_FALSE(without.contains("uncertainty"));
  EXPECT_EQ(without.at("summary").at("iteration_s"), facts.at("summary").at("iteration_s"));
}

// 200 steps of 12.5 MB at 10 Gbps take 10 ms each, and so do the 12 of each draw; what is drawn is a share of the run's
// own.
TEST_F(Uncertain, ARunOfAProfileDrawsByItselfInShortRuns) {
  const auto run = [&](const std::string& more, const std::string& out) {
    return program("run --cluster " + cable() + " --bucket-size 1TiB --overlap off --steps 200 " + more + " --out " +
                   (scratch / out).string());
  };
  const Ended ended = run("--workload tensor:size=12.5MB", "tensor");
  EXPECT_THAT(ended.text, ContainsRegex("median of 32 draws; 68 % .* \\(1 ranges, seed 1\\)"));
  const auto facts = nlohmann::json::parse(text_of(scratch / "tensor/run.json"));
  EXPECT_EQ(facts.at("uncertainty").at("steps"), 12);
  EXPECT_NEAR(facts.at("uncertainty").at("median_s").get<double>(), 0.01, 0.001);
  EXPECT_NEAR(facts.at("uncertainty").at("of_95_s").at(1).get<double>(), 0.01 * std::pow(2, 0.95), 0.002);
  EXPECT_THAT(run("--workload tensor:size=12.5MB --algorithm local_sgd:every=50", "periodic").text,
              HasSubstr("not drawn, since 12 steps take or send other than all do; --uncertainty 32 draws whole runs"));
  EXPECT_THAT(run("--workload mlp", "mlp").text, ::testing::Not(HasSubstr("range")));
}

/// A study of two rows, 125 and 150 MB of that cable: 0.1 and 0.12 s, or half or twice as many.
std::string two_loads(const std::string& cable, const std::string& more = "") {
  return "[run]\nworkload = tensor:size=125MB\nbucket-size = 1TiB\noverlap = off\nsteps = 2\ncluster = " + cable +
         "\n[row.less]\n[row.more]\nworkload = tensor:size=150MB\n" + more;
}

// Ranges overlap by most of their width, and yet the smaller load is the faster one in each draw.
TEST_F(Uncertain, AStudyDrawsAllRowsAtTheSamePoints) {
  const auto file = scratch.file("s.cfg", two_loads(cable()));
  const Ended ended =
      program("study " + file.string() + " --uncertainty 64 --plot off --out " + (scratch / "s").string());
  ASSERT_EQ(ended.code, 0) << ended.text;
  EXPECT_THAT(ended.text, HasSubstr("64 draws of each run's ranges; uncertainty.csv has all"));
  EXPECT_THAT(ended.text, ContainsRegex("all +less 100 %"));
  EXPECT_THAT(ended.text, HasSubstr("decided by cluster.nic_bandwidth ("));
  EXPECT_THAT(ended.text, HasSubstr("--fit nic_bandwidth"));
  std::istringstream rows(text_of(scratch / "s/uncertainty.csv"));
  std::string line;
  std::getline(rows, line);
  EXPECT_EQ(line, "folder,row,median,least_68,most_68,least_95,most_95,fastest,shares");
  for (const double load : {0.1, 0.12}) {
    std::getline(rows, line);
    std::istringstream cells(line.substr(line.find(',', line.find(',') + 1) + 1));
    std::vector<double> numbers;
    for (std::string cell; std::getline(cells, cell, ',');) numbers.push_back(std::strtod(cell.c_str(), nullptr));
    EXPECT_NEAR(numbers[0], load, 0.02 * load) << line;
    EXPECT_NEAR(numbers[1], load * std::pow(2, -0.68), 0.02 * load) << line;
    EXPECT_NEAR(numbers[2], load * std::pow(2, 0.68), 0.04 * load) << line;
    EXPECT_EQ(numbers[5], load == 0.1 ? 1 : 0) << line;
  }
  EXPECT_THAT(text_of(scratch / "s/runs.csv"), HasSubstr(",measure,least_68,most_68,"));
}

TEST_F(Uncertain, AStudyOfAnotherMeasureHasNoDraws) {
  const auto file = scratch.file("s.cfg", two_loads(cable(), "[measure]\nvalue = summary.bytes_per_step_mean\n"));
  const std::string study = "study " + file.string() + " --uncertainty 8 --out " + (scratch / "s").string();
  const Ended ended = program(study);
  EXPECT_EQ(ended.code, 2) << ended.text;
  EXPECT_THAT(ended.text, HasSubstr("measures summary.bytes_per_step_mean; leave --uncertainty out"));
  EXPECT_THAT(program(study + " --cells 1/2").text, HasSubstr("give --uncertainty to --plan and to --collect"));
}

}  // namespace
}  // namespace trigram::testing::uncertainty_test
