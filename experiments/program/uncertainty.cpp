#include "experiments/program/uncertainty.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/decimal.hpp"
#include "experiments/fit/predictor.hpp"
#include "experiments/settings/run_config.hpp"
#include "experiments/settings/shell_word.hpp"

namespace trigram {
namespace {

constexpr const char* the_model = "the model itself";

/// The largest root of the mean square of errors over the rows of one published source on which no value was found: DGX
/// Spark, of the ten of study agreement.
constexpr double error_without_measurements = 0.27;

/// All flags of a run but those of its record, as a measurement to be predicted.
Measurement measurement_of(Settings run, const UncertainQuestion& question) {
  for (const char* flag : {"cluster", "out", "trace", "progress", "checkpoint", "checkpoint-every", "resume"})
    run.erase(flag);
  run["fidelity"] = "fluid";
  if (question.op.empty()) run["steps"] = "4";
  Measurement row;
  row.settings = std::move(run);
  row.op = question.op;
  row.size = question.size;
  return row;
}

std::vector<std::pair<std::string, double>> named_shares(const std::vector<UncertainParameter>& parameters,
                                                         const std::vector<double>& shares) {
  std::vector<std::pair<std::string, double>> named;
  for (std::size_t i = 0; i < shares.size(); ++i)
    named.emplace_back(i < parameters.size() ? parameters[i].key : the_model, shares[i]);
  std::ranges::stable_sort(named, std::greater<>(), [](const auto& one) { return one.second; });
  return named;
}

std::string share_in_percent(double share) {
  constexpr double hundred = 100;
  return decimal(std::round(hundred * share), 3) + " %";
}

std::string interval_text(const CentralRange& interval) {
  constexpr int digits = 4;
  return decimal(interval.least, digits) + " to " + decimal(interval.most, digits) + " s";
}

/// What most of the width comes from, and how it is measured.
std::string first_to_measure(const UncertainTime& time, const std::string& cluster) {
  constexpr double worth_naming = 0.05;
  std::string text, first;
  for (const auto& [key, share] : time.shares) {
    if (share < worth_naming) break;
    text += (text.empty() ? "" : ", ") + key + " (" + share_in_percent(share) + ")";
    if (first.empty() && key.starts_with("cluster.")) first = key.substr(key.find('.') + 1);
  }
  if (text.empty()) return "";
  text = "  decided by " + text + "\n";
  if (first.empty()) return text;
  return text + "  measure    " + first + " first: trigram calibrate --from MEASUREMENTS.csv --cluster " +
         shell_word(cluster) + " --fit " + first + "\n";
}

}  // namespace

UncertaintyFlags::UncertaintyFlags(Params& flags) {
  constexpr int most_draws = 4096;
  draws = flags.get("uncertainty", 0,
                    "draws from the ranges that files of clusters and systems state (25us in 15us..60us), to give a "
                    "median and ranges that hold; 0: none",
                    {0, most_draws});
  seed = static_cast<std::uint64_t>(
      flags.get("uncertainty-seed", std::int64_t{1}, "of these draws", Range<std::int64_t>{.least = 0}));
}

std::vector<UncertainTime> uncertain_times(const Settings& given, const std::vector<UncertainQuestion>& questions,
                                           const UncertaintyFlags& flags, const ErrorBars& bars) {
  const Settings run = layered({{"cluster", run_defaults().at("cluster")}}, given);
  const std::vector<UncertainParameter> parameters = uncertain_parameters(run);
  const std::vector<Point> points = low_discrepancy_points(parameters.size() + 1, flags.draws, flags.seed);
  std::vector<Measurement> rows;
  rows.reserve(questions.size() * points.size());
  std::vector<PlannedMeasurement> planned;
  for (const UncertainQuestion& question : questions) {
    for (const Point& point : points) {
      const Settings one = drawn(run, parameters, point);
      rows.push_back(measurement_of(one, question));
      planned.push_back({&rows.back(), one.at("cluster"), {}});
    }
  }
  constexpr int jobs = 2;
  const std::vector<Predicted> predicted = Predictor(jobs).predict(planned);
  std::vector<UncertainTime> times;
  for (std::size_t question = 0; question < questions.size(); ++question) {
    std::vector<double> seconds;
    bool measured = true;
    for (std::size_t draw = 0; draw < points.size(); ++draw) {
      const Predicted& one = predicted[question * points.size() + draw];
      const std::optional<ErrorBar> bar = bars.of(one.regime);
      measured = measured && bar.has_value();
      seconds.push_back(one.seconds *
                        factor_of_error(bar ? bar->error : error_without_measurements, points[draw].back()));
    }
    times.push_back({spread_of(seconds), named_shares(parameters, first_order_indices(points, seconds)),
                     parameters.size(), measured});
  }
  return times;
}

std::string uncertainty_lines(const UncertainTime& time, const UncertaintyFlags& flags, const std::string& cluster,
                              double arithmetic) {
  constexpr int digits = 4;
  std::string text = "  range      " + decimal(time.seconds.median, digits) + " s median of " +
                     std::to_string(flags.draws) + " draws; 68 % " + interval_text(time.seconds.of_68) + ", 95 % " +
                     interval_text(time.seconds.of_95) + " (" + std::to_string(time.ranges) + " ranges, seed " +
                     std::to_string(flags.seed) + ")\n";
  if (!time.measured)
    text += "  model      no measurement of this cluster says how far off the model is: the widest error is taken\n";
  text += first_to_measure(time, cluster);
  if (std::isnan(arithmetic)) return text;
  const bool enough = time.seconds.of_68.contains(arithmetic);
  return text + "  arithmetic " + decimal(arithmetic, digits) + " s, compute and bytes over bandwidth: " +
         (enough ? "inside of the 68 % range, and simpler\n" : "outside of the 68 % range\n");
}

nlohmann::json uncertainty_facts(const UncertainTime& time, const UncertaintyFlags& flags, double arithmetic) {
  const auto ends = [](const CentralRange& interval) { return nlohmann::json{interval.least, interval.most}; };
  nlohmann::json shares = nlohmann::json::object();
  for (const auto& [key, share] : time.shares) shares[key] = share;
  return {{"draws", flags.draws},
          {"seed", flags.seed},
          {"ranges", time.ranges},
          {"median_s", time.seconds.median},
          {"of_68_s", ends(time.seconds.of_68)},
          {"of_95_s", ends(time.seconds.of_95)},
          {"shares", shares},
          {"model_error_measured", time.measured},
          {"arithmetic_s", std::isnan(arithmetic) ? nlohmann::json(nullptr) : nlohmann::json(arithmetic)}};
}

}  // namespace trigram
