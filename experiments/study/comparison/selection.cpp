// Selection on the validation split.
#include "experiments/study/comparison/selection.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>

namespace trigram {
namespace {

double score(const StudyResult& result, const std::string& by) {
  const double value = value_at(result.run, by);
  return std::isfinite(value) ? value : std::numeric_limits<double>::infinity();
}

void add_seeds(const Selection& selection, const StudyPoint& chosen, std::vector<StudyPoint>& points) {
  for (const std::string& seed : selection.seeds) {
    StudyPoint point = chosen;
    point.axes["seed"] = point.settings["seed"] = seed;
    points.push_back(point);
  }
}

}  // namespace

Selected select(const Study& study, const std::vector<StudyPoint>& points, RunPool& pool) {
  if (!study.selection) return {points, {}, {}};
  const Selection& selection = *study.selection;
  std::vector<StudyPoint> candidates;
  for (const StudyPoint& point : points) {
    for (const std::string& value : selection.grid) {
      candidates.push_back(point);
      candidates.back().settings[selection.flag] = value;
      candidates.back().settings["validation"] = "on";
    }
  }
  const std::vector<StudyResult> results = pool.run(candidates, "runs to choose " + selection.flag);
  Selected selected;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto tried = std::span(results).subspan(i * selection.grid.size(), selection.grid.size());
    const auto missing = std::ranges::count_if(tried, &StudyResult::missing);
    if (missing > 0) {
      selected.without.push_back({points[i], RunPool::main_phase, "",
                                  std::to_string(missing) + " of " + std::to_string(tried.size()) + " runs to choose " +
                                      selection.flag + " have not been made",
                                  "", /*missing=*/true});
      continue;
    }
    std::vector<double> scores;
    for (const StudyResult& result : tried) scores.push_back(score(result, selection.by));
    const auto best = static_cast<std::size_t>(std::min_element(scores.begin(), scores.end()) - scores.begin());
    if (!std::isfinite(scores[best])) {
      selected.without.push_back(
          {points[i], RunPool::main_phase, "", "every " + selection.flag + " of [selection] diverged or failed", ""});
      continue;
    }
    StudyPoint chosen = points[i];
    chosen.axes[selection.flag] = chosen.settings[selection.flag] = selection.grid[best];
    selected.choices.push_back({{"row", chosen.row},
                                {"axes", points[i].axes},
                                {"flag", selection.flag},
                                {"values", selection.grid},
                                {"scores", scores},
                                {"chosen", selection.grid[best]}});
    add_seeds(selection, chosen, selected.points);
  }
  return selected;
}

}  // namespace trigram
