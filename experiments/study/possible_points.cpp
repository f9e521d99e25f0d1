#include "experiments/study/possible_points.hpp"

namespace trigram {
namespace {

void append(std::vector<StudyPoint>& points, const std::vector<StudyPoint>& more) {
  points.insert(points.end(), more.begin(), more.end());
}

void append_with(std::vector<StudyPoint>& points, const std::vector<StudyPoint>& some, const Settings& settings) {
  for (const StudyPoint& point : some) {
    points.push_back(point);
    points.back().settings = layered(point.settings, settings);
  }
}

}  // namespace

std::vector<StudyPoint> possible_points(const Study& study, bool recalibrate) {
  const bool knows = study.calibration && !study.calibration->known.empty() && !recalibrate;
  const std::vector<Axis> grids = study.calibration && !knows ? study.calibration->grids : std::vector<Axis>{};
  Settings middle = knows ? study.calibration->known : Settings{};
  for (const Axis& axis : grids) middle[axis.key] = axis.values[axis.values.size() / 2];
  const std::vector<StudyPoint> main = main_points(study, middle);
  std::vector<StudyPoint> points = main;
  append(points, variant_points(study, middle));
  append(points, own_points(study));
  append(points, learning_points(study));
  for (const Axis& axis : grids) {
    for (const std::string& value : axis.values)
      append(points, main_points(study, layered(middle, {{axis.key, value}})));
  }
  if (!study.selection) return points;
  for (const std::string& value : study.selection->grid)
    append_with(points, main, {{study.selection->flag, value}, {"validation", "on"}});
  for (const std::string& seed : study.selection->seeds) append_with(points, main, {{"seed", seed}});
  return points;
}

}  // namespace trigram
