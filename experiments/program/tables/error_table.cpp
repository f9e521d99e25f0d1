// The table of errors against published points.
#include <algorithm>
#include <cmath>
#include <set>

#include "experiments/program/tables/tables.hpp"

namespace trigram {
namespace {

using Cells = std::vector<std::vector<std::string>>;
using Points = std::vector<Comparison>;

std::string percent(double ratio) {
  constexpr double hundred = 100;
  return std::isnan(ratio) ? "-" : short_number(std::round(hundred * hundred * ratio) / hundred) + " %";
}

template <class Predicate>
Points only(const Points& points, const Predicate& keep) {
  Points kept;
  std::copy_if(points.begin(), points.end(), std::back_inserter(kept), keep);
  return kept;
}

std::set<std::string> calibrated_series(const Study& study) {
  std::set<std::string> series;
  if (!study.calibration) return series;
  for (const auto& names : {study.calibration->rows, study.calibration->given}) {
    for (const Row& row : study.rows) {
      if (std::find(names.begin(), names.end(), row.name) != names.end()) series.insert(row.series);
    }
  }
  return series;
}

std::vector<std::string> line(const std::string& label, const std::string& kind, const Points& points) {
  std::string worst = "-";
  if (!points.empty()) {
    const Comparison& point = *std::max_element(
        points.begin(), points.end(), [](const Comparison& a, const Comparison& b) { return a.error() < b.error(); });
    worst = percent(point.error()) + " at " + short_number(point.x);
  }
  return {label, kind, std::to_string(points.size()), percent(mean_error(points)), worst};
}

std::string order_line(const std::string& who, const Points& points) {
  const Order order = order_of_pairs(points);
  if (order.pairs == 0) return "";
  return "order of pairs that differ by more than 10 %, " + who + ": " + std::to_string(order.right) + " of " +
         std::to_string(order.pairs) + " right (" + percent(static_cast<double>(order.right) / order.pairs) + ")\n";
}

/// One block: every series, calibrated and predicted apart, then the variants.
std::string block(const std::string& title, const Study& study, const Points& main, const Points& variants) {
  const std::set<std::string> calibrated = calibrated_series(study);
  const auto is_calibrated = [&](const Comparison& point) { return calibrated.contains(point.series); };
  const Points predicted = only(main, [&](const Comparison& point) { return !is_calibrated(point); });
  Cells rows = {{title, "", "points", "mean error", "worst"}};
  std::set<std::string> seen;
  for (const Row& row : study.rows) {
    const Points points = only(main, [&](const Comparison& point) { return point.series == row.series; });
    if (!points.empty() && seen.insert(row.series).second)
      rows.push_back(line(row.series, calibrated.contains(row.series) ? "calibrated" : "predicted", points));
  }
  rows.push_back(line("all calibrated", "", only(main, is_calibrated)));
  rows.push_back(line("all predicted", "", predicted));
  for (const Variant& variant : study.variants) {
    const Points points =
        only(variants, [&](const Comparison& point) { return point.variant == variant.name && !is_calibrated(point); });
    rows.push_back(line("variant " + variant.name, "predicted", points));
  }
  return aligned(rows) + order_line("predicted", predicted) + order_line("all", main);
}

}  // namespace

std::string error_table(const Study& study, const Points& main, const Points& variants) {
  const Target& target = *study.target;
  const bool has_aim = target.aim_high > 0;
  const auto inside = [&](const Comparison& point) {
    return !has_aim || (point.x >= target.aim_low && point.x <= target.aim_high);
  };
  const auto outside = [&](const Comparison& point) { return !inside(point); };
  const std::string range =
      has_aim ? target.x + " " + short_number(target.aim_low) + " to " + short_number(target.aim_high) : "all points";
  std::string text = block("error, " + range, study, only(main, inside), only(variants, inside));
  const Points rest = only(main, outside);
  if (!rest.empty())
    text += "\n" + block("error, other " + target.x + " (no aim)", study, rest, only(variants, outside));
  return text;
}

}  // namespace trigram
