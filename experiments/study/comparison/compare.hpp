// A study beside published points: errors by series, and whether systems come out in the right order.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiments/study/study_point.hpp"

namespace trigram {

/// Series → x → value, from the columns that a target names.
using Published = std::map<std::string, std::map<double, double>>;

/// Throws UsageError naming file, line and column for a table that cannot be read.
Published read_published(const Target& target);

/// Of the point's series at its x; nothing where nobody published it.
std::optional<double> published_at(const Study& study, const Published& published, const StudyPoint& point);

/// One of our points and the published one at the same x.
struct Comparison {
  std::string series, variant;
  double x = 0, published = 0, ours = 0;
  double error() const;  ///< |ours − published| / published
};

/// The pairs of points that both sides have; a run without a number has none.
std::vector<Comparison> compare(const Study& study, const Published& published,
                                const std::vector<StudyResult>& results);

/// Mean absolute relative error; NaN for none.
double mean_error(const std::vector<Comparison>& points);

/// Pairs of series at one x whose published values differ by more than a tenth of the smaller, and how many of them
/// come out in the published order.
struct Order {
  int right = 0, pairs = 0;
};
Order order_of_pairs(const std::vector<Comparison>& points);

}  // namespace trigram
