// Published points, read and compared.
#include "experiments/study/compare.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

#include "core/error.hpp"
#include "experiments/settings/grid.hpp"
#include "experiments/settings/utf8.hpp"

namespace trigram {
namespace {

std::vector<std::string> cells(std::string line) {
  if (!line.empty() && line.back() == '\r') line.pop_back();
  std::vector<std::string> all;
  std::istringstream stream(line);
  for (std::string cell; std::getline(stream, cell, ',');) all.push_back(cell);
  return all;
}

std::size_t column(const std::vector<std::string>& header, const std::string& name, const std::string& file) {
  const auto found = std::find(header.begin(), header.end(), name);
  require(found != header.end(), file + ":1: there is no column '" + name + "'");
  return static_cast<std::size_t>(found - header.begin());
}

/// The number of an axis value: "16Gbps" is 16 where the target's unit is Gbps.
double x_of(const Target& target, const StudyPoint& point) {
  const std::string& text = point.axes.at(target.axis);
  require(text.ends_with(target.unit),
          "[target] unit = " + target.unit + ", but " + target.axis + " is swept over " + text);
  return parse_number(text.substr(0, text.size() - target.unit.size()));
}

}  // namespace

Published read_published(const Target& target) {
  std::ifstream file(target.file);
  const std::string name = target.file.string();
  std::string line;
  require(file.is_open(), "cannot read the published points of '" + name + "'");
  require(static_cast<bool>(std::getline(file, line)), "'" + name + "' is empty: it has no published points");
  const std::vector<std::string> header = cells(line);
  const std::size_t x = column(header, target.x, name), series = column(header, target.series, name),
                    value = column(header, target.value, name);
  Published published;
  for (int number = 2; std::getline(file, line); ++number) {
    const std::vector<std::string> row = cells(line);
    if (row.empty()) continue;
    const std::string place = name + ":" + std::to_string(number) + ": ";
    require_utf8(line, name + ":" + std::to_string(number));
    require(row.size() == header.size(),
            place + std::to_string(row.size()) + " cells where the header has " + std::to_string(header.size()));
    try {
      const double point = parse_number(row[value]);
      require(point > 0, row[value] + " is not above 0");
      published[row[series]][parse_number(row[x])] = point;
    } catch (const UsageError& error) {
      throw UsageError(place + error.what());
    }
  }
  require(!published.empty(), name + ": no points after the header");
  return published;
}

double Comparison::error() const { return std::abs(ours - published) / published; }

std::vector<Comparison> compare(const Study& study, const Published& published,
                                const std::vector<StudyResult>& results) {
  std::vector<Comparison> points;
  for (const StudyResult& result : results) {
    const auto curve = published.find(result.point.series);
    if (curve == published.end()) continue;
    const double x = x_of(*study.target, result.point);
    const auto point = curve->second.find(x);
    if (point != curve->second.end())
      points.push_back({result.point.series, result.point.variant, x, point->second, measured(study, result)});
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
