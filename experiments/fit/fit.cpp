// Fits, and what may be said of them.
#include "experiments/fit/fit.hpp"

#include <Eigen/Core>
#include <Eigen/SVD>
#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>
#include <set>

#include "core/values/error.hpp"
#include "experiments/fit/predictions/missing_predictions.hpp"

namespace trigram {
namespace {

using Rows = std::vector<std::size_t>;

Rows all_rows(const FitProblem& problem) {
  Rows rows(problem.rows.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  return rows;
}

std::vector<double> errors_at(const FitProblem& problem, const Place& place, const Rows& rows) {
  std::vector<double> errors = problem.predict(place, rows);
  for (std::size_t i = 0; i < rows.size(); ++i) errors[i] = std::log(errors[i] / problem.rows[rows[i]].seconds);
  return errors;
}

Residuals residuals_of(const FitProblem& problem, const Rows& rows) {
  return [&problem, rows](const Place& place) { return errors_at(problem, place, rows); };
}

/// How the errors change with each parameter, at steps that stay inside the cube.
Eigen::MatrixXd slopes(const FitProblem& problem, const Place& place) {
  constexpr double step = 2e-3;
  const Rows rows = all_rows(problem);
  Eigen::MatrixXd all(static_cast<Eigen::Index>(rows.size()), static_cast<Eigen::Index>(place.size()));
  GatheredQuestions each;
  for (std::size_t i = 0; i < place.size(); ++i) {
    Place below = place, above = place;
    below[i] = std::max(0.0, place[i] - step);
    above[i] = std::min(1.0, place[i] + step);
    std::vector<double> low, high;
    each.ask([&] { low = errors_at(problem, below, rows); });
    each.ask([&] { high = errors_at(problem, above, rows); });
    for (std::size_t row = 0; row < std::min(low.size(), high.size()); ++row)
      all(static_cast<Eigen::Index>(row), static_cast<Eigen::Index>(i)) =
          (high[row] - low[row]) / (above[i] - below[i]);
  }
  each.require_all();
  return all;
}

/// What is left of the errors, by degree of freedom; never less than what a clock and a model are off by anyway.
double spread(const FitProblem& problem, const std::vector<double>& predicted) {
  constexpr double least = 1e-4;
  double sum = 0;
  for (std::size_t i = 0; i < predicted.size(); ++i)
    sum += std::pow(std::log(predicted[i] / problem.rows[i].seconds), 2);
  const auto free = static_cast<double>(predicted.size() - problem.parameters.size());
  return std::max(least, std::sqrt(sum / free));
}

Place as_place(const Eigen::VectorXd& vector) { return {vector.begin(), vector.end()}; }

/// Parts that are too small to matter are none: they are rounding, or what the others have left.
Place without_trifles(Place steps) {
  constexpr double trifle = 0.05;
  for (double& step : steps) step = std::abs(step) < trifle ? 0 : step;
  return steps;
}

void judge(const FitProblem& problem, Fit& found) {
  constexpr double most_of_range = 0.25, resolution = 1e-3, both_sides = 0.975;
  const Eigen::MatrixXd jacobian = slopes(problem, found.place);
  const Eigen::JacobiSVD<Eigen::MatrixXd> parts(jacobian, Eigen::ComputeThinU | Eigen::ComputeFullV);
  const double sigma = spread(problem, found.predicted);
  const std::size_t count = found.place.size();
  std::vector<double> variance(count, 0);
  found.intervals.assign(count, {.low = 0, .high = 1, .known = true});
  for (std::size_t k = 0; k < count; ++k) {
    const auto column = static_cast<Eigen::Index>(k);
    const double slope = parts.singularValues()(column);
    const Eigen::VectorXd way = parts.matrixV().col(column);
    if (std::max(sigma, resolution) > most_of_range * slope) {
      const Place steps = without_trifles(as_place(way));
      found.blind.push_back({steps, (jacobian * way).cwiseAbs().maxCoeff()});
      for (std::size_t i = 0; i < count; ++i) found.intervals[i].known &= steps[i] == 0;
      continue;
    }
    for (std::size_t i = 0; i < count; ++i)
      variance[i] += std::pow(way(static_cast<Eigen::Index>(i)) * sigma / slope, 2);
  }
  const boost::math::students_t student(static_cast<double>(problem.rows.size() - count));
  const double width = boost::math::quantile(student, both_sides);
  for (std::size_t i = 0; i < count; ++i) {
    if (!found.intervals[i].known) continue;
    found.intervals[i].low = std::max(0.0, found.place[i] - width * std::sqrt(variance[i]));
    found.intervals[i].high = std::min(1.0, found.place[i] + width * std::sqrt(variance[i]));
  }
}

/// What is predicted of `rows` with parameters fitted to all others, beginning where all rows led.
std::vector<double> predicted_from_others(const FitProblem& problem, const Fit& found, const Rows& rows) {
  Rows others;
  for (const std::size_t row : all_rows(problem)) {
    if (std::ranges::find(rows, row) == rows.end()) others.push_back(row);
  }
  return problem.predict(search_nearby(residuals_of(problem, others), found.place, problem.start), rows);
}

}  // namespace

Fit fit(const FitProblem& problem) {
  const Rows rows = all_rows(problem);
  ensure(!problem.parameters.empty() && !rows.empty(), "a fit of ", problem.parameters.size(), " parameters to ",
         rows.size(), " rows");
  Fit found;
  found.place = search_everywhere(residuals_of(problem, rows), problem.start);
  found.predicted = problem.predict(found.place, rows);
  found.intervals.resize(found.place.size());
  if (rows.size() > found.place.size()) judge(problem, found);
  return found;
}

std::vector<double> left_out(const FitProblem& problem, const Fit& found) {
  std::vector<double> predicted;
  GatheredQuestions each;
  for (const std::size_t row : all_rows(problem))
    each.ask([&] { predicted.push_back(predicted_from_others(problem, found, {row}).front()); });
  each.require_all();
  return predicted;
}

std::vector<double> sources_left_out(const FitProblem& problem, const Fit& found) {
  std::map<std::string, Rows> sources;
  for (const std::size_t row : all_rows(problem)) sources[problem.rows[row].source].push_back(row);
  for (const auto& [source, rows] : sources) {
    if (problem.rows.size() - rows.size() <= problem.parameters.size()) return {};
  }
  std::vector<double> predicted(problem.rows.size());
  GatheredQuestions each;
  for (const auto& source : sources) {
    each.ask([&, &rows = source.second] {
      const std::vector<double> seconds = predicted_from_others(problem, found, rows);
      for (std::size_t i = 0; i < rows.size(); ++i) predicted[rows[i]] = seconds[i];
    });
  }
  each.require_all();
  return predicted;
}

double mean_error(const std::vector<Measured>& rows, const std::vector<double>& predicted) {
  double sum = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) sum += std::abs(predicted[i] / rows[i].seconds - 1);
  return sum / static_cast<double>(rows.size());
}

}  // namespace trigram
