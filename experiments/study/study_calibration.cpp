// [calibrate] as a fit to published points.
#include "experiments/study/study_calibration.hpp"

#include <algorithm>
#include <cmath>

#include "core/values/error.hpp"
#include "core/values/located.hpp"
#include "experiments/fit/fit_words.hpp"
#include "experiments/study/comparison/measured.hpp"

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

/// The same results, none of which a fit can do without. Throws Error for one that failed, and MissingRuns.
std::vector<StudyResult> all_made(std::vector<StudyResult> results) {
  const auto missing = std::ranges::count_if(results, &StudyResult::missing);
  if (missing > 0)
    throw MissingRuns(std::to_string(missing) + " of " + std::to_string(results.size()) +
                      " runs that calibration needs have not been made");
  for (const StudyResult& result : results)
    ensure(result.failure.empty(), "a run that calibration needs failed: ", result.point.place, result.failure, " (",
           result.folder, "/log.txt)");
  return results;
}

/// The published points of the calibrated rows, and the runs that predict them.
FitProblem problem_of(const Study& study, const Published& published, RunPool& pool, const Settings& middle) {
  constexpr double centre = 0.5;
  FitProblem problem;
  for (const Axis& axis : study.calibration->grids) {
    if (axis.values.size() < 2) continue;
    problem.parameters.push_back(FitParameter::spanning(axis.key, axis.values));
    problem.start.push_back(problem.parameters.back().place_of_text(middle.at(axis.key)).value_or(centre));
  }
  std::vector<std::size_t> meeting;  // numbers of those of the points that somebody published
  const std::vector<StudyPoint> points = points_of(study, middle);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto value = published_at(study, published, points[i]);
    if (!value) continue;
    meeting.push_back(i);
    problem.rows.push_back({*value, points[i].series});
  }
  require(!problem.rows.empty(), "no published point meets a run of its rows");
  problem.predict = [=, &study, &pool, parameters = problem.parameters](const Place& place,
                                                                        const std::vector<std::size_t>& rows) {
    Settings values = middle;
    for (std::size_t i = 0; i < place.size(); ++i) values[parameters[i].key()] = parameters[i].text(place[i]);
    const std::vector<StudyPoint> all = points_of(study, values);
    std::vector<StudyPoint> some;
    for (const std::size_t row : rows) some.push_back(all[meeting[row]]);
    std::vector<double> predicted;
    for (const StudyResult& result : all_made(pool.run(some, "runs to calibrate")))
      predicted.push_back(measured(study, result));
    return predicted;
  };
  return problem;
}

/// The value of the grid that is nearest; of two, the one nearer to its front.
const std::string& nearest(const Axis& axis, const FitParameter& parameter, double place) {
  return *std::ranges::min_element(axis.values, {}, [&](const std::string& value) {
    return std::abs(parameter.place_of_text(value).value_or(2) - place);
  });
}

void search_for(const Study& study, const Published& published, RunPool& pool, Calibrated& found) {
  const FitProblem problem = problem_of(study, published, pool, found.values);
  if (problem.parameters.empty()) return;
  const Fit best = fit(problem);
  for (std::size_t i = 0; i < problem.parameters.size(); ++i) {
    const FitParameter& parameter = problem.parameters[i];
    const auto axis = std::ranges::find(study.calibration->grids, parameter.key(), &Axis::key);
    found.values[parameter.key()] = nearest(*axis, parameter, best.place[i]);
    found.words.push_back(parameter.key() + " = " + words_of(parameter, best.place[i], best.intervals[i]));
  }
  for (const BlindDirection& blind : best.blind) found.words.push_back(words_of(problem, best, blind));
}

}  // namespace

Calibrated calibrate(const Study& study, const Published& published, RunPool& pool, bool search) {
  Calibrated found;
  if (!study.calibration) return found;
  found.values = study.calibration->known;
  if (!found.values.empty() && !search) return found;
  found.searched = true;
  for (const Axis& axis : study.calibration->grids) found.values[axis.key] = axis.values[axis.values.size() / 2];
  located(study.file.string() + ": [calibrate] ", [&] { search_for(study, published, pool, found); });
  const std::vector<StudyResult> results = all_made(pool.run(points_of(study, found.values), "runs as calibrated"));
  found.error = mean_error(compare(study, published, results));
  return found;
}

}  // namespace trigram
