// Published points, read and compared.
#include "experiments/study/comparison/compare.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "core/values/error.hpp"
#include "core/values/located.hpp"
#include "core/values/quoted.hpp"
#include "experiments/settings/files/csv_table.hpp"
#include "experiments/settings/grid.hpp"
#include "experiments/study/comparison/measured.hpp"
#include "experiments/study/study_check.hpp"

namespace trigram {

Published read_published(const Target& target) {
  const auto has_all = [&](const CsvColumns& columns) {
    for (const std::string& name : {target.x, target.series, target.value})
      require(columns.contains(name), "there is no column ", Quoted(name));
  };
  Published published;
  for (const CsvRow& row : read_csv(target.file, "published points", has_all)) {
    located(row.place, [&] {
      const double point = parse_number(row.at(target.value));
      require(point > 0, Quoted(row.at(target.value)), " is not above 0");
      published[row.at(target.series)][parse_number(row.at(target.x))] = point;
    });
  }
  return published;
}

double Comparison::error() const { return std::abs(ours - published) / published; }

std::optional<double> published_at(const Study& study, const Published& published, const StudyPoint& point) {
  const auto curve = published.find(point.series);
  if (curve == published.end()) return std::nullopt;
  const auto found = curve->second.find(x_of(*study.target, point.axes.at(study.target->axis)));
  return found == curve->second.end() ? std::nullopt : std::optional(found->second);
}

std::vector<Comparison> compare(const Study& study, const Published& published,
                                const std::vector<StudyResult>& results) {
  std::vector<Comparison> points;
  for (const StudyResult& result : results) {
    const auto value = published_at(study, published, result.point);
    const double ours = measured(study, result);
    if (value && std::isfinite(ours))
      points.push_back({result.point.series, result.point.variant,
                        x_of(*study.target, result.point.axes.at(study.target->axis)), *value, ours});
  }
  return points;
}

double mean_error(const std::vector<Comparison>& points) {
  if (points.empty()) return std::numeric_limits<double>::quiet_NaN();
  double sum = 0;
  for (const Comparison& point : points) sum += point.error();
  return sum / static_cast<double>(points.size());
}

Order order_of_pairs(const std::vector<Comparison>& points) {
  constexpr double distinct = 1.1;
  Order order;
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t j = i + 1; j < points.size(); ++j) {
      const Comparison &a = points[i], &b = points[j];
      if (a.x != b.x || std::max(a.published, b.published) <= distinct * std::min(a.published, b.published)) continue;
      ++order.pairs;
      if ((a.published < b.published) == (a.ours < b.ours)) ++order.right;
    }
  }
  return order;
}

}  // namespace trigram
