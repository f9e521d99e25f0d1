#include "experiments/fit/uncertain_question.hpp"

#include <algorithm>

namespace trigram {

Measurement measurement_of(const UncertainQuestion& question, Settings run) {
  for (const char* flag : {"cluster", "out", "trace", "progress", "checkpoint", "checkpoint-every", "resume"})
    run.erase(flag);
  run["fidelity"] = "fluid";
  Measurement row;
  row.place = question.place;
  row.settings = std::move(run);
  row.op = question.op;
  row.size = question.size;
  return row;
}

Point Asked::own(const Point& point) const {
  Point part;
  for (const std::size_t coordinate : coordinates) part.push_back(point[coordinate]);
  return part;
}

std::vector<std::string> find_coordinates(std::vector<Asked>& all) {
  std::vector<std::string> keys;
  for (const Asked& asked : all) {
    for (const UncertainParameter& one : asked.parameters) keys.push_back(one.key);
  }
  std::ranges::sort(keys);
  keys.erase(std::ranges::unique(keys).begin(), keys.end());
  for (Asked& asked : all) {
    for (const UncertainParameter& one : asked.parameters)
      asked.coordinates.push_back(static_cast<std::size_t>(std::ranges::lower_bound(keys, one.key) - keys.begin()));
  }
  return keys;
}

}  // namespace trigram
