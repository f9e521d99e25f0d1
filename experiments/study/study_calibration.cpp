// Coordinate search over the grids of [calibrate].
#include "experiments/study/study_calibration.hpp"

#include <algorithm>
#include <cmath>

#include "core/error.hpp"

namespace trigram {
namespace {

/// The calibrated rows at every swept value, with `values`.
std::vector<StudyPoint> points_of(const Study& study, const Settings& values) {
  std::vector<StudyPoint> points = main_points(study, values);
  const std::vector<std::string>& rows = study.calibration->rows;
  std::erase_if(points,
                [&](const StudyPoint& point) { return std::find(rows.begin(), rows.end(), point.row) == rows.end(); });
  return points;
}

/// The error of each value of `axis` with the others as in `values`; all runs in one batch.
std::vector<double> errors_along(const Study& study, const Published& published, RunPool& pool, const Axis& axis,
                                 const Settings& values) {
  std::vector<StudyPoint> points;
  for (const std::string& value : axis.values) {
    const std::vector<StudyPoint> some = points_of(study, layered(values, {{axis.key, value}}));
    points.insert(points.end(), some.begin(), some.end());
  }
  const std::vector<StudyResult> results = pool.run(points, "runs to calibrate " + axis.key);
  const std::size_t each = results.size() / axis.values.size();
  std::vector<double> errors;
  for (auto begin = results.begin(); begin != results.end(); begin += static_cast<std::ptrdiff_t>(each)) {
    errors.push_back(mean_error(compare(study, published, {begin, begin + static_cast<std::ptrdiff_t>(each)})));
  }
  return errors;
}

}  // namespace

Calibrated calibrate(const Study& study, const Published& published, RunPool& pool, bool search) {
  Calibrated found;
  if (!study.calibration) return found;
  found.values = study.calibration->known;
  if (!found.values.empty() && !search) return found;
  found.searched = true;
  for (const Axis& axis : study.calibration->grids) found.values[axis.key] = axis.values[axis.values.size() / 2];
  constexpr int most_rounds = 10;
  Settings before;
  for (int round = 0; round < most_rounds && before != found.values; ++round) {
    before = found.values;
    for (const Axis& axis : study.calibration->grids) {
      const std::vector<double> errors = errors_along(study, published, pool, axis, found.values);
      const auto best = std::min_element(errors.begin(), errors.end());
      require(std::isfinite(*best), study.file.string(), ": [calibrate]: no published point meets a run of its rows");
      found.values[axis.key] = axis.values[static_cast<std::size_t>(best - errors.begin())];
      found.error = *best;
      found.trail.push_back(
          {{"parameter", axis.key}, {"values", axis.values}, {"errors", errors}, {"best", found.values[axis.key]}});
    }
  }
  return found;
}

}  // namespace trigram
