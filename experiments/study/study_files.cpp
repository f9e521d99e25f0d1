// runs.csv and study.json.
#include "experiments/study/study_files.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "core/values/decimal.hpp"
#include "experiments/study/comparison/curve_view.hpp"
#include "experiments/study/comparison/goal.hpp"
#include "experiments/study/comparison/measured.hpp"

namespace trigram {
namespace {

std::string number(double value) {
  constexpr int digits = 10;
  return std::isnan(value) ? "" : decimal(value, digits);
}

std::string ends_of(const std::map<std::string, Spread>& ranges, const std::string& folder) {
  const auto found = ranges.find(folder);
  if (found == ranges.end()) return ",,";
  return "," + number(found->second.of_68.least) + "," + number(found->second.of_68.most);
}

std::set<std::string> axis_keys(const std::vector<StudyResult>& results) {
  std::set<std::string> keys;
  for (const StudyResult& result : made(results)) {
    for (const auto& [key, value] : result.point.axes) keys.insert(key);
  }
  return keys;
}

std::set<std::string> summary_keys(const std::vector<StudyResult>& results) {
  std::set<std::string> keys;
  for (const StudyResult& result : made(results)) {
    for (const auto& [key, value] : result.run.at("summary").items()) {
      if (value.is_number() && key != "wall_s") keys.insert(key);  // how long a machine took is no result
    }
  }
  return keys;
}

nlohmann::json observation_facts(const Study& study) {
  nlohmann::json all = nlohmann::json::array();
  for (const Row& row : study.rows) {
    if (!row.observation) continue;
    const Observation& of = *row.observation;
    all.push_back({{"row", row.name},
                   {"source", of.source},
                   {"method", of.method},
                   {"condition", of.condition},
                   {"used", of.used},
                   {"seconds", of.seconds}});
  }
  return all;
}

}  // namespace

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string escaped;
  for (const char c : text) escaped += c == '"' ? "\"\"" : std::string(1, c);
  return "\"" + escaped + "\"";
}

std::string runs_csv(const Study& study, const std::vector<StudyResult>& results,
                     const std::map<std::string, Spread>& ranges) {
  const std::set<std::string> axes = axis_keys(results), metrics = summary_keys(results);
  const std::vector<std::string> to_goal =
      study.goal ? measures_to_goal(expenses_in(results)) : std::vector<std::string>{};
  std::string text = "row,series,variant";
  for (const std::string& key : axes) text += "," + quoted(key);
  text += ",folder,measure";
  if (!ranges.empty()) text += ",least_68,most_68";
  for (const std::string& name : to_goal) text += "," + name;
  for (const std::string& key : metrics) text += "," + key;
  text += "\n";
  for (const StudyResult& result : made(results)) {
    const StudyPoint& point = result.point;
    text += quoted(point.row) + "," + quoted(point.series) + "," + quoted(point.variant);
    for (const std::string& key : axes) text += "," + (point.axes.contains(key) ? quoted(point.axes.at(key)) : "");
    text += "," + quoted(result.folder) + "," + number(measured(study, result));
    if (!ranges.empty()) text += ends_of(ranges, result.folder);
    for (const std::string& name : to_goal) text += "," + number(value_to_goal(name, *study.goal, result.run));
    for (const std::string& key : metrics) text += "," + number(value_at(result.run, "summary." + key));
    text += "\n";
  }
  return text;
}

nlohmann::json study_facts(const Study& study) {
  nlohmann::json facts = {{"name", study.name}, {"title", study.title}};
  facts["measure"] = {{"value", study.measure.value},  {"scale", study.measure.scale},
                      {"label", study.measure.label},  {"x_label", study.measure.x_label},
                      {"facet", study.measure.facet},  {"x_axis", study.measure.x_axis},
                      {"y_axis", study.measure.y_axis}};
  facts["axes"] = facts["rows"] = nlohmann::json::array();
  for (const Axis& axis : study.sweep) facts["axes"].push_back({{"key", axis.key}, {"values", axis.values}});
  for (const Row& row : study.rows)
    facts["rows"].push_back({{"name", row.name}, {"series", row.series}, {"panel", row.panel}});
  facts["line_keys"] = line_keys(study);
  facts["curves"] = curve_facts(study.curves);
  if (study.goal) facts["goal"] = {{"loss", study.goal->loss}};
  if (has_observations(study)) facts["measurements"] = observation_facts(study);
  if (study.target) facts["target"] = {{"axis", study.target->axis}, {"unit", study.target->unit}};
  return facts;
}

nlohmann::json failure_facts(const std::vector<FailedRun>& failed) {
  nlohmann::json facts = nlohmann::json::array();
  for (const FailedRun& one : failed) {
    facts.push_back({{"row", one.point.row},
                     {"series", one.point.series},
                     {"variant", one.point.variant},
                     {"axes", one.point.axes},
                     {"phase", one.phase},
                     {"folder", one.folder},
                     {"message", one.message},
                     {"command", one.command}});
    if (one.missing) facts.back()["missing"] = true;
  }
  return facts;
}

}  // namespace trigram
