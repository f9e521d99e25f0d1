#include "experiments/fit/uncertain_times.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace trigram {
namespace {

/// All flags of a run but those of its record, as a measurement to be predicted.
Measurement measurement_of(const UncertainQuestion& question, Settings run) {
  for (const char* flag : {"cluster", "out", "trace", "progress", "checkpoint", "checkpoint-every", "resume"})
    run.erase(flag);
  run["fidelity"] = "fluid";
  Measurement row;
  row.place = question.place;
  row.settings = std::move(run);
  row.op = question.op;
  row.size = question.size;
  return row;
}

/// The parameters of a question, and which coordinate of a point each is drawn at.
struct Asked {
  std::vector<UncertainParameter> parameters;
  std::vector<std::size_t> coordinates;

  /// The point of these parameters and of the model's own error, which is the last.
  Point own(const Point& point) const {
    Point part;
    for (const std::size_t coordinate : coordinates) part.push_back(point[coordinate]);
    part.push_back(point.back());
    return part;
  }
};

/// Parameters of one name share a coordinate. The names of all, in order, without repeats.
std::vector<std::string> find_coordinates(std::vector<Asked>& all) {
  std::vector<std::string> keys;
  for (const Asked& asked : all) {
    for (const UncertainParameter& one : asked.parameters) keys.push_back(one.key);
  }
  std::ranges::sort(keys);
  keys.erase(std::ranges::unique(keys).begin(), keys.end());
  for (Asked& asked : all) {
    for (const UncertainParameter& one : asked.parameters)
      asked.coordinates.push_back(static_cast<std::size_t>(std::ranges::lower_bound(keys, one.key) - keys.begin()));
  }
  return keys;
}

std::vector<std::pair<std::string, double>> named_shares(const std::vector<UncertainParameter>& parameters,
                                                         const std::vector<double>& shares) {
  std::vector<std::pair<std::string, double>> named;
  for (std::size_t i = 0; i < shares.size(); ++i)
    named.emplace_back(i < parameters.size() ? parameters[i].key : the_model, shares[i]);
  std::ranges::stable_sort(named, std::greater<>(), [](const auto& one) { return one.second; });
  return named;
}

UncertainTime time_of(const Asked& asked, const std::vector<Point>& points, const Predicted* predicted) {
  UncertainTime time;
  std::vector<double> seconds;
  std::vector<Point> own;
  for (const Point& point : points) {
    const Predicted& one = *predicted++;
    const bool known = !std::isnan(one.error);
    time.measured = time.measured && known;
    time.draws.push_back({one.seconds, known ? one.error : error_without_measurements});
    seconds.push_back(one.seconds * factor_of_error(time.draws.back().error, point.back()));
    own.push_back(asked.own(point));
  }
  time.seconds = spread_of(seconds);
  time.shares = named_shares(asked.parameters, first_order_indices(own, seconds));
  time.ranges = asked.parameters.size();
  return time;
}

}  // namespace

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
  std::vector<double> chances(times.size(), 0.0);
  const std::size_t draws = times.empty() ? 0 : times.front()->draws.size();
  for (std::size_t draw = 0; draw < draws; ++draw) {
    std::vector<WithErrorBar> here;
    for (const UncertainTime* one : times) here.push_back(one->draws[draw]);
    const std::vector<double> of_draw = chances_of_least(here);
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
