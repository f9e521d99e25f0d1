// Published points, read and compared.
#include "experiments/study/compare.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>
#include <string_view>

#include "core/error.hpp"
#include "core/located.hpp"
#include "core/quoted.hpp"
#include "experiments/settings/grid.hpp"
#include "experiments/settings/text_file.hpp"
#include "experiments/settings/utf8.hpp"
#include "experiments/study/study_check.hpp"
#include "experiments/workloads/data/separated.hpp"

namespace trigram {
namespace {

using Cells = std::vector<std::string_view>;

std::size_t column(const Cells& header, const std::string& name, const std::string& file) {
  const auto found = std::find(header.begin(), header.end(), name);
  require(found != header.end(), file + ":1: there is no column '" + name + "'");
  return static_cast<std::size_t>(found - header.begin());
}

}  // namespace

Published read_published(const Target& target) {
  const std::string name = target.file.string();
  constexpr std::size_t most_bytes = 1 << 20;
  std::error_code missing;
  require(std::filesystem::is_regular_file(target.file, missing), Quoted(name), " does not exist or is no file");
  const std::optional<std::string> text = read_text(target.file, most_bytes + 1);
  require(text.has_value(), "cannot read ", Quoted(name));
  require(!text->empty(), Quoted(name), " is empty: it has no published points");
  require(text->size() <= most_bytes, Quoted(name), " is longer than ", most_bytes,
          " bytes; it cannot be a list of points");
  std::string_view rest = *text;
  const Cells header = comma_separated(take(rest, '\n'));
  const std::size_t x = column(header, target.x, name), series = column(header, target.series, name),
                    value = column(header, target.value, name);
  Published published;
  for (int number = 2; !rest.empty(); ++number) {
    const std::string_view line = take(rest, '\n');
    if (trimmed(line).empty()) continue;
    const Cells row = comma_separated(line);
    require_utf8(std::string(line), name + ":" + std::to_string(number));
    located(name + ":" + std::to_string(number) + ": ", [&] {
      require(row.size() == header.size(), row.size(), " cells where the header has ", header.size());
      const double point = parse_number(std::string(row[value]));
      require(point > 0, Quoted(row[value]), " is not above 0");
      published[std::string(row[series])][parse_number(std::string(row[x]))] = point;
    });
  }
  require(!published.empty(), name + ": no points after the header");
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
    if (const auto value = published_at(study, published, result.point))
      points.push_back({result.point.series, result.point.variant,
                        x_of(*study.target, result.point.axes.at(study.target->axis)), *value,
                        measured(study, result)});
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
