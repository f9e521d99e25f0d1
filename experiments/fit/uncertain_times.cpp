#include "experiments/fit/uncertain_times.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace trigram {
namespace {

std::vector<std::pair<std::string, double>> named_shares(const std::vector<UncertainParameter>& parameters,
                                                         const std::vector<double>& shares) {
  std::vector<std::pair<std::string, double>> named;
  for (std::size_t i = 0; i < shares.size(); ++i)
    named.emplace_back(i < parameters.size() ? parameters[i].key : the_model, shares[i]);
  std::ranges::stable_sort(named, std::greater<>(), [](const auto& one) { return one.second; });
  return named;
}

/// A simulation at each of these points.
UncertainTime time_of(const Asked& asked, const std::vector<Point>& points, const Predicted* predicted) {
  std::vector<WithErrorBar> draws;
  bool measured = true;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const bool known = !std::isnan(predicted[i].error);
    measured = measured && known;
    draws.push_back({predicted[i].seconds, known ? predicted[i].error : error_without_measurements});
  }
  UncertainTime time = over_draws(asked, points, std::move(draws));
  time.measured = measured;
  return time;
}

}  // namespace

UncertainTime over_draws(const Asked& asked, const std::vector<Point>& points, std::vector<WithErrorBar> draws) {
  UncertainTime time;
  std::vector<double> seconds;
  std::vector<Point> own;
  for (std::size_t i = 0; i < points.size(); ++i) {
    seconds.push_back(draws[i].value * factor_of_error(draws[i].error, points[i].back()));
    own.push_back(asked.own(points[i]));
    own.back().push_back(points[i].back());
  }
  time.seconds = spread_of(seconds);
  time.shares = named_shares(asked.parameters, first_order_indices(own, seconds));
  time.ranges = asked.parameters.size();
  time.draws = std::move(draws);
  return time;
}

UncertainTime times(UncertainTime time, double factor) {
  time.seconds = times(time.seconds, factor);
  for (WithErrorBar& draw : time.draws) draw.value *= factor;
  return time;
}

Predicted predicted_as_written(const UncertainQuestion& question) {
  const Measurement row = measurement_of(question, question.run);
  return Predictor(1).predict({{&row, question.run.at("cluster"), {}}}).front();
}

std::vector<UncertainTime> uncertain_times(const std::vector<UncertainQuestion>& questions, const Draws& draws) {
  std::vector<Asked> asked;
  for (const UncertainQuestion& question : questions) asked.push_back({uncertain_parameters(question.run), {}});
  const std::size_t dimensions = find_coordinates(asked).size() + 1;
  const std::vector<Point> points = low_discrepancy_points(dimensions, draws.count, draws.seed);
  std::vector<Measurement> rows;
  rows.reserve(questions.size() * points.size());
  std::vector<PlannedMeasurement> planned;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    for (const Point& point : points) {
      const Settings one = drawn(questions[i].run, asked[i].parameters, asked[i].own(point));
      rows.push_back(measurement_of(questions[i], one));
      planned.push_back({&rows.back(), one.at("cluster"), {}});
    }
  }
  const std::vector<Predicted> predicted = Predictor(draws.source).predict(planned);
  std::vector<UncertainTime> times;
  for (std::size_t i = 0; i < questions.size(); ++i)
    times.push_back(time_of(asked[i], points, predicted.data() + i * points.size()));
  return times;
}

std::vector<double> chances_of_least(const std::vector<const UncertainTime*>& times) {
  constexpr int quantiles = 32;  // of each draw, over which there is another mean
  std::vector<double> chances(times.size(), 0.0);
  const std::size_t draws = times.empty() ? 0 : times.front()->draws.size();
  for (std::size_t draw = 0; draw < draws; ++draw) {
    std::vector<WithErrorBar> here;
    for (const UncertainTime* one : times) here.push_back(one->draws[draw]);
    const std::vector<double> of_draw = chances_of_least(here, quantiles);
    for (std::size_t i = 0; i < chances.size(); ++i) chances[i] += of_draw[i] / static_cast<double>(draws);
  }
  return chances;
}

double chance_of_less(const UncertainTime& one, const UncertainTime& other) {
  double sum = 0;
  for (std::size_t draw = 0; draw < one.draws.size(); ++draw) sum += chance_of_less(one.draws[draw], other.draws[draw]);
  return sum / static_cast<double>(one.draws.size());
}

}  // namespace trigram
