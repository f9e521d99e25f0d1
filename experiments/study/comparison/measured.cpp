#include "experiments/study/comparison/measured.hpp"

#include "experiments/study/comparison/goal.hpp"

namespace trigram {

double measured(const Study& study, const StudyResult& result) {
  const std::string& name = study.measure.value;
  const bool to_goal = study.goal && is_to_goal(name);
  return study.measure.scale * (to_goal ? value_to_goal(name, *study.goal, result.run) : value_at(result.run, name));
}

double error_bar_of(const StudyResult& result) { return value_at(result.run, "error_bar.error"); }

}  // namespace trigram
