// Fits of models with a closed form: what is found, how well it is known, and what rows that were left out are told.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "core/values/error.hpp"
#include "experiments/fit/fit_words.hpp"

namespace trigram::testing::fit_closed_form_test {
namespace {

using ::testing::AllOf;
using ::testing::DoubleNear;
using ::testing::HasSubstr;

/// Seconds of the message of that number, 4^number KiB, by what parameters say.
using Model = double (*)(const std::vector<double>& values, double bytes);

double alpha_beta(const std::vector<double>& values, double bytes) { return values[0] + bytes / values[1]; }
double share_of_wire(const std::vector<double>& values, double bytes) { return bytes / (values[0] * values[1]); }
double wire_alone(const std::vector<double>& values, double bytes) { return bytes / values[0]; }

double bytes_of(std::size_t row) { return 1024 * std::pow(4, static_cast<double>(row)); }

FitProblem problem_of(const std::vector<FitParameter>& parameters, const std::vector<double>& truth, Model model,
                      double noise = 0, unsigned seed = 1) {
  constexpr std::size_t count = 10;
  FitProblem problem;
  problem.parameters = parameters;
  problem.start.assign(parameters.size(), 0.5);
  std::mt19937 random(seed);
  std::normal_distribution<double> off(0, 1);
  for (std::size_t row = 0; row < count; ++row)
    problem.rows.push_back({model(truth, bytes_of(row)) * std::exp(noise * off(random)), row % 2 == 0 ? "a" : "b"});
  problem.predict = [=](const Place& place, const std::vector<std::size_t>& rows) {
    std::vector<double> values, seconds;
    for (std::size_t i = 0; i < place.size(); ++i) values.push_back(parameters[i].value(place[i]));
    for (const std::size_t row : rows) seconds.push_back(model(values, bytes_of(row)));
    return seconds;
  };
  return problem;
}

std::vector<FitParameter> latency_and_bandwidth() {
  return {{"latency", "1us", "10ms"}, {"bandwidth", "1Gbps", "1Tbps"}};
}

TEST(Fit, FindsWhatMadeTheRows) {
  const FitProblem problem = problem_of(latency_and_bandwidth(), {50e-6, 3e9}, alpha_beta);
  const Fit found = fit(problem);
  EXPECT_NEAR(problem.parameters[0].value(found.place[0]) / 50e-6, 1, 1e-3);
  EXPECT_NEAR(problem.parameters[1].value(found.place[1]) / 3e9, 1, 1e-3);
  EXPECT_TRUE(found.blind.empty());
  EXPECT_EQ(fit(problem).place, found.place) << "the same from the same";
}

// Of 200 pairs of intervals of 95 %, 190 hold what made the rows, give or take a deviation of 3.1 for one parameter.
TEST(Fit, ItsIntervalsCoverAsOftenAsTheySay) {
  constexpr int times = 200;
  const std::vector<double> truth{50e-6, 3e9};
  std::vector<int> covered(2, 0);
  for (unsigned seed = 1; seed <= times; ++seed) {
    const FitProblem problem = problem_of(latency_and_bandwidth(), truth, alpha_beta, 0.05, seed);
    const Fit found = fit(problem);
    for (std::size_t i = 0; i < truth.size(); ++i) {
      const double place = problem.parameters[i].place_of(truth[i]);
      covered[i] += place >= found.intervals[i].low && place <= found.intervals[i].high ? 1 : 0;
    }
  }
  for (const int one : covered) EXPECT_THAT(one, AllOf(::testing::Ge(180), ::testing::Le(199)));
}

TEST(Fit, NamesWhatCannotBeToldApart) {
  const std::vector<FitParameter> parameters{{"efficiency", "0.1", "1"}, {"bandwidth", "1Gbps", "1Tbps"}};
  const FitProblem problem = problem_of(parameters, {0.8, 5e9}, share_of_wire);
  const Fit found = fit(problem);
  ASSERT_EQ(found.blind.size(), 1U);
  EXPECT_FALSE(found.intervals[0].known || found.intervals[1].known);
  EXPECT_NEAR(parameters[0].value(found.place[0]) * parameters[1].value(found.place[1]) / 4e9, 1, 1e-3);
  const std::string words = words_of(problem, found, found.blind[0]);
  EXPECT_THAT(words, AllOf(HasSubstr("efficiency and bandwidth cannot be told apart: "), HasSubstr(" up "),
                           HasSubstr(" down "), HasSubstr("changes no row by more than ")));
  EXPECT_THAT(words_of(parameters[0], found.place[0], found.intervals[0]),
              HasSubstr("which the measurements do not tell: it may be from 0.1 to 1"));
}

TEST(Fit, NamesWhatNoRowSees) {
  const std::vector<FitParameter> parameters{{"bandwidth", "1Gbps", "1Tbps"}, {"window", "4KiB", "1GiB"}};
  const FitProblem problem = problem_of(parameters, {3e9, 1e6}, wire_alone);
  const Fit found = fit(problem);
  EXPECT_TRUE(found.intervals[0].known);
  EXPECT_FALSE(found.intervals[1].known);
  EXPECT_NEAR(found.place[1], 0.5, 1e-3) << "it stays where it was";
  EXPECT_THAT(words_of(problem, found, found.blind.at(0)), HasSubstr("window is not seen by these measurements"));
}

TEST(Fit, KeepsToTheEndsOfARange) {
  const std::vector<FitParameter> parameters{{"bandwidth", "1Mbps", "2Gbps"}};
  const FitProblem problem = problem_of(parameters, {2.75e8}, wire_alone);  // 2.2Gbps
  const Fit found = fit(problem);
  EXPECT_EQ(found.place, Place{1});
  EXPECT_THAT(words_of(parameters[0], found.place[0], found.intervals[0]), HasSubstr("at the end of its range"));
}

TEST(Fit, SaysWhatASimulationThrew) {
  FitProblem problem = problem_of({{"bandwidth", "1Gbps", "1Tbps"}}, {3e9}, wire_alone);
  problem.predict = [](const Place&, const std::vector<std::size_t>&) -> std::vector<double> {
    throw UsageError("m.csv:2: no such workload");
  };
  EXPECT_THAT([&] { fit(problem); }, ::testing::ThrowsMessage<UsageError>("m.csv:2: no such workload"));
  problem.predict = [calls = 0](const Place&, const std::vector<std::size_t>& rows) mutable {
    constexpr int before = 10;
    if (++calls > before) throw Error("the disk is full");
    return std::vector<double>(rows.size(), 1);
  };
  EXPECT_THAT([&] { fit(problem); }, ::testing::ThrowsMessage<Error>("the disk is full"));
}

// log t = log b − log B is linear in the one parameter, so that the mean of all logarithms is the fit, and what is
// left of a row when the others alone are fitted is n/(n−1) of what is left of it.
TEST(LeftOut, IsWhatTheHatMatrixSays) {
  const std::vector<FitParameter> parameters{{"bandwidth", "1Gbps", "1Tbps"}};
  const FitProblem problem = problem_of(parameters, {3e9}, wire_alone, 0.1);
  const Fit found = fit(problem);
  const std::vector<double> predicted = left_out(problem, found);
  const auto count = static_cast<double>(problem.rows.size());
  for (std::size_t row = 0; row < problem.rows.size(); ++row) {
    const double fitted = std::log(found.predicted[row] / problem.rows[row].seconds);
    EXPECT_NEAR(std::log(predicted[row] / problem.rows[row].seconds), fitted * count / (count - 1), 1e-4);
  }
}

TEST(LeftOut, IsAFitToTheOthers) {
  const FitProblem problem = problem_of(latency_and_bandwidth(), {50e-6, 3e9}, alpha_beta, 0.1);
  const std::vector<double> predicted = left_out(problem, fit(problem));
  for (std::size_t row = 0; row < problem.rows.size(); ++row) {
    FitProblem others = problem;
    others.rows.erase(others.rows.begin() + static_cast<std::ptrdiff_t>(row));
    others.predict = [&](const Place& place, std::vector<std::size_t> rows) {
      for (std::size_t& one : rows) one += one >= row ? 1 : 0;
      return problem.predict(place, rows);
    };
    const double direct = problem.predict(fit(others).place, {row}).front();
    EXPECT_THAT(predicted[row], DoubleNear(direct, 1e-3 * direct)) << row;
  }
}

TEST(SourcesLeftOut, AreFitsToTheOtherSources) {
  const std::vector<FitParameter> parameters{{"bandwidth", "1Gbps", "1Tbps"}};
  FitProblem problem = problem_of(parameters, {3e9}, wire_alone);
  for (Measured& row : problem.rows) row.seconds *= row.source == "a" ? 2 : 1;
  const std::vector<double> predicted = sources_left_out(problem, fit(problem));
  ASSERT_EQ(predicted.size(), problem.rows.size());
  for (std::size_t row = 0; row < problem.rows.size(); ++row)
    EXPECT_NEAR(predicted[row] / problem.rows[row].seconds, problem.rows[row].source == "a" ? 0.5 : 2, 1e-3);
  for (Measured& row : problem.rows) row.source = "";
  EXPECT_TRUE(sources_left_out(problem, fit(problem)).empty());
}

TEST(FitParameter, ReadsRangesAndWritesWhatAClusterReads) {
  const FitParameter window("nic_window", "64KiB", "64MiB");
  EXPECT_DOUBLE_EQ(window.value(0.5), 2 * 1024 * 1024);
  EXPECT_EQ(window.rounded(0.5), "2.097MB");
  EXPECT_EQ(parse_quantity(window.text(0.25), Unit::bytes), window.value(0.25));
  EXPECT_EQ(window.place_of_text("1KiB"), std::nullopt);
  EXPECT_EQ(window.place_of_text("64KiB"), 0);
  EXPECT_EQ(FitParameter("x", "0", "2").value(0.5), 1);
}

TEST(FitParameter, RefusesWhatIsNoRange) {
  const auto refused = [](const std::string& least, const std::string& most, const std::string& message) {
    EXPECT_THAT([&] { FitParameter("x", least, most); }, ::testing::ThrowsMessage<UsageError>(HasSubstr(message)));
  };
  refused("1", "fast", "x from '1' to 'fast': what is fitted must be numbers, or quantities of one unit");
  refused("1ms", "1MiB", "of one unit");
  refused("2", "1", "the first end is not below the second");
}

// However far the search is: each of its algorithms ends otherwise when it is stopped.
TEST(Fit, EndsWithWhatAPredictionThrows) {
  FitProblem problem = problem_of({{"bandwidth", "1Gbps", "1Tbps"}}, {1e9}, wire_alone);
  int asked = 0, last = 1'000'000;
  problem.predict = [&, predict = problem.predict](const Place& place, const std::vector<std::size_t>& rows) {
    if (asked++ == last) throw UsageError("no answer");
    return predict(place, rows);
  };
  fit(problem);
  const int all = asked;
  EXPECT_GT(all, 30);
  for (last = 0; last < all; ++last) {
    asked = 0;
    EXPECT_THROW(fit(problem), UsageError) << "after " << last << " predictions";
  }
}

}  // namespace
}  // namespace trigram::testing::fit_closed_form_test
