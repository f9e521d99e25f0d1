#include "experiments/fit/interpolated_times.hpp"

#include <cmath>
#include <numbers>

#include "experiments/fit/surrogate.hpp"

namespace trigram {
namespace {

/// A simulation of one of the runs.
struct Simulation {
  std::size_t run;
  Point at;  ///< of the run's own parameters
  Measurement row;
  std::string cluster;
};

Simulation simulation_of(const std::vector<MadeRun>& runs, std::size_t run, const Asked& asked, const Point& at) {
  const UncertainQuestion& question = runs[run].question;
  Settings flags = drawn(question.run, asked.parameters, at);
  flags["steps"] = std::to_string(runs[run].steps);
  return {run, at, measurement_of(question, flags), flags.at("cluster")};
}

/// Closer to the ends, as Chebyshev's points are: between simulations little is left open, and beyond them much.
Point outward(Point point) {
  for (double& u : point) u = (1 - std::cos(std::numbers::pi * u)) / 2;
  return point;
}

/// Each run has points of its own, so that those beside each other tell of different ones.
std::vector<Simulation> few_of_each(const std::vector<MadeRun>& runs, const std::vector<Asked>& asked,
                                    std::size_t dimensions, std::uint64_t seed) {
  int count = 0;
  for (const MadeRun& run : runs) count += run.simulations;
  const std::vector<Point> points = low_discrepancy_points(dimensions, count, seed);
  auto point = points.begin();
  std::vector<Simulation> all;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    for (int k = 0; k < runs[i].simulations && !asked[i].parameters.empty(); ++k)
      all.push_back(simulation_of(runs, i, asked[i], outward(asked[i].own(*point++))));
  }
  return all;
}

/// Where nothing is moved; of runs that were not simulated fluidly, as draws are.
std::vector<Simulation> as_written(const std::vector<MadeRun>& runs, const std::vector<Asked>& asked) {
  std::vector<Simulation> all;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (asked[i].parameters.empty() || !std::isnan(runs[i].seconds_of_steps)) continue;
    all.push_back(simulation_of(runs, i, asked[i], Point(asked[i].parameters.size(), 0.5)));
  }
  return all;
}

std::vector<double> seconds_of(const std::vector<Simulation>& simulations, Predictor& predictor) {
  std::vector<PlannedMeasurement> planned;
  for (const Simulation& one : simulations) planned.push_back({&one.row, one.cluster, {}});
  std::vector<double> seconds;
  for (const Predicted& one : predictor.predict(planned)) seconds.push_back(one.seconds);
  return seconds;
}

/// A row's runs, but no more of them than a covariance of all their simulations is quickly inverted for.
std::size_t end_of_part(const std::vector<MadeRun>& runs, std::size_t begin) {
  constexpr int most = 512;
  int simulations = runs[begin].simulations;
  std::size_t end = begin + 1;
  while (end < runs.size() && runs[end].row == runs[begin].row && (simulations += runs[end].simulations) <= most) ++end;
  return end;
}

/// Puts each question's parameters where all questions have them.
Point moves_of(const Asked& asked, const Point& own, std::size_t dimensions) {
  Point moves(dimensions, 0.0);
  for (std::size_t i = 0; i < own.size(); ++i) moves[asked.coordinates[i]] = move_at(asked.parameters[i].value, own[i]);
  return moves;
}

UncertainTime time_of(const MadeRun& run, const Asked& asked, const std::vector<Point>& points,
                      const Surrogate& surrogate) {
  constexpr std::size_t every = 16;  // which is enough of them for their mean
  std::vector<WithErrorBar> draws;
  double squares = 0, counted = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Sample sample{run.place, moves_of(asked, asked.own(points[i]), points[i].size() - 1)};
    draws.push_back({run.seconds * std::exp(surrogate.at(sample)), 0});
    if (i % every != 0) continue;
    squares += std::pow(surrogate.deviation(sample), 2);
    ++counted;
  }
  const bool known = !std::isnan(run.error);
  const double of_model = std::log1p(known ? run.error : error_without_measurements);
  for (WithErrorBar& draw : draws) draw.error = std::expm1(std::hypot(of_model, std::sqrt(squares / counted)));
  UncertainTime time = over_draws(asked, points, std::move(draws));
  time.measured = known;
  return time;
}

/// What simulations of some runs say, each a logarithm.
struct Learned {
  std::vector<Simulation> simulations;
  std::vector<double> logs;
};

Learned learned(const std::vector<MadeRun>& runs, const std::vector<Asked>& asked, std::size_t dimensions,
                const Draws& draws) {
  Learned all{few_of_each(runs, asked, dimensions, draws.seed), {}};
  const std::vector<Simulation> written = as_written(runs, asked);
  const std::size_t few = all.simulations.size();
  all.simulations.insert(all.simulations.end(), written.begin(), written.end());
  Predictor predictor(draws.source);
  const std::vector<double> seconds = seconds_of(all.simulations, predictor);
  std::vector<double> unmoved;
  for (const MadeRun& run : runs) unmoved.push_back(run.seconds_of_steps);
  for (std::size_t i = few; i < seconds.size(); ++i) unmoved[all.simulations[i].run] = seconds[i];
  all.simulations.resize(few);
  for (std::size_t i = 0; i < few; ++i) all.logs.push_back(std::log(seconds[i] / unmoved[all.simulations[i].run]));
  return all;
}

}  // namespace

InterpolatedTimes interpolated_times(const std::vector<MadeRun>& runs, const Draws& draws) {
  std::vector<Asked> asked;
  for (const MadeRun& run : runs) asked.push_back({uncertain_parameters(run.question.run), {}});
  const std::size_t dimensions = find_coordinates(asked).size();
  const std::vector<Point> points = low_discrepancy_points(dimensions + 1, draws.count, draws.seed);
  const Learned from = learned(runs, asked, dimensions, draws);
  InterpolatedTimes all;
  all.simulations = from.logs.size();
  double squares = 0;
  for (std::size_t begin = 0, next = 0; begin < runs.size();) {
    const std::size_t end = end_of_part(runs, begin);
    std::vector<Sample> samples;
    std::vector<double> logs;
    for (; next < from.logs.size() && from.simulations[next].run < end; ++next) {
      const std::size_t run = from.simulations[next].run;
      samples.push_back({runs[run].place, moves_of(asked[run], from.simulations[next].at, dimensions)});
      logs.push_back(from.logs[next]);
    }
    const Surrogate surrogate(std::move(samples), logs);
    for (const double off : surrogate.left_out()) squares += off * off;
    for (; begin < end; ++begin) all.times.push_back(time_of(runs[begin], asked[begin], points, surrogate));
  }
  if (all.simulations > 0) all.off = std::sqrt(squares / static_cast<double>(all.simulations));
  return all;
}

}  // namespace trigram
