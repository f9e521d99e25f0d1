#include "experiments/study/study_check.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "core/registry/spelling.hpp"
#include "core/values/error.hpp"
#include "core/values/located.hpp"
#include "core/values/quoted.hpp"
#include "experiments/record/expenses.hpp"
#include "experiments/record/run_record.hpp"
#include "experiments/settings/grid.hpp"
#include "experiments/study/comparison/goal.hpp"

namespace trigram {
namespace {

void require_rows(const Study& study, const std::vector<std::string>& names, const std::string& section) {
  for (const std::string& name : names) {
    const bool known =
        std::any_of(study.rows.begin(), study.rows.end(), [&](const Row& row) { return names_row({name}, row); });
    require(known, "[" + section + "] names row '" + name + "', which the study does not have");
  }
}

void check_target(const Study& study) {
  const Target& target = *study.target;
  for (const auto& [key, value] : std::map<std::string, std::string>{{"file", target.file.filename()},
                                                                     {"x", target.x},
                                                                     {"series", target.series},
                                                                     {"value", target.value},
                                                                     {"axis", target.axis}}) {
    require(!value.empty(), "[target] lacks '" + key + "'");
  }
  const auto swept =
      std::find_if(study.sweep.begin(), study.sweep.end(), [&](const Axis& axis) { return axis.key == target.axis; });
  require(swept != study.sweep.end(), "[target] axis = " + target.axis + " is not in [sweep]");
  for (const std::string& value : swept->values) x_of(target, value);
  const std::vector<std::string> others = line_keys(study);
  require(others.empty(), "[sweep] " + (others.empty() ? "" : others.front()) +
                              ": published points are compared along one swept key, first in [sweep], and over seeds");
}

/// `more` is what else there is.
void check_number(const std::string& path, const std::string& what, const std::string& more = "") {
  const std::vector<std::string> known = measurable();
  if (std::find(known.begin(), known.end(), path) != known.end()) return;
  std::string message = what + " = " + path + " is no number of run.json" + did_you_mean(path, known) + "; there are:";
  for (const std::string& one : known) message += " " + one;
  throw UsageError(message + more);
}

void check_axis(const Axis& axis, const std::string& section) {
  const std::string place = "[" + section + "] " + axis.key + " has ";
  require(!axis.values.empty(), place + "no values");
  const std::size_t keys = parts_of(axis.key).size();
  std::set<std::string> seen;
  for (const std::string& value : axis.values) {
    require(seen.insert(value).second, place + "'" + value + "' twice");
    require(keys == 1 || parts_of(value).size() == keys, place, Quoted(value), "; write a value for each of its ", keys,
            " keys, with & between them");
  }
}

/// The key of an axis, or those that go together, of which no other axis may have one.
void require_swept_once(const std::vector<Axis>& axes) {
  std::set<std::string> seen;
  for (const Axis& axis : axes) {
    for (const std::string& key : parts_of(axis.key)) {
      require(!key.empty(), "[sweep] ", Quoted(axis.key), " has no key beside its &");
      require(seen.insert(key).second, "[sweep] sweeps ", Quoted(key), " twice");
    }
  }
}

void check_calibration(const Study& study) {
  const Calibration& calibration = *study.calibration;
  require(study.target.has_value(), "[calibrate] needs a [target]");
  require(!calibration.rows.empty() && !calibration.grids.empty(), "[calibrate] needs rows and at least one parameter");
  for (const Axis& axis : calibration.grids) check_axis(axis, "calibrate");
  require_rows(study, calibration.rows, "calibrate");
  require_rows(study, calibration.given, "calibrate");
  if (calibration.known.empty()) return;
  Settings known = calibration.known;
  for (const Axis& axis : calibration.grids) {
    require(known.contains(axis.key), "[calibrated] lacks " + axis.key + ", which [calibrate] searches for");
    const std::string value = known.at(axis.key);
    require(std::find(axis.values.begin(), axis.values.end(), value) != axis.values.end(),
            "[calibrated] " + axis.key + " = " + value + " is none of the values that [calibrate] tries");
    known.erase(axis.key);
  }
  require(known.empty(), "[calibrated] names " + (known.empty() ? "" : known.begin()->first) +
                             ", which [calibrate] does not search for");
}

void check_variants(const Study& study) {
  std::set<std::string> before;
  for (const Variant& variant : study.variants) {
    require_rows(study, variant.rows, "variant." + variant.name);
    require(variant.also.empty() || before.contains(variant.also), "[variant.", variant.name, "] also = ", variant.also,
            " names no variant before it");
    before.insert(variant.name);
  }
}

/// Settings of a measurement are its table's: a sweep would run it under others than it was taken.
void check_observations(const Study& study) {
  if (!has_observations(study)) return;
  require(study.sweep.empty(), "[measurements] has rows with flags of their own; leave [sweep] out");
  require(!study.target && !study.calibration && !study.selection && !study.goal,
          "[measurements] brings its own points; leave [target], [calibrate], [selection] and [goal] out");
}

std::vector<std::string> swept_keys(const Study& study) {
  std::vector<std::string> keys;
  for (const Axis& axis : study.sweep) keys.push_back(axis.key);
  return keys;
}

/// What a study with a goal may measure beside the numbers of run.json.
std::string also_to_goal() {
  std::string text = ", and of a study with a [goal]";
  for (const std::string& one : measures_to_goal({expense_names.begin(), expense_names.end()})) text += " " + one;
  return text;
}

void check_measure(const Study& study) {
  const Measure& measure = study.measure;
  if (is_to_goal(measure.value)) {
    require(study.goal.has_value(), "[measure] value = ", measure.value,
            " needs a [goal], whose loss is to be reached");
    require(!study.map && !study.calibration, "[measure] value = ", measure.value,
            " is of the way to a goal; [map] and [calibrate] take a number of run.json");
  } else {
    check_number(measure.value, "[measure] value", also_to_goal());
  }
  for (const auto& [key, value] : {std::pair("x", measure.x), std::pair("facet", measure.facet)}) {
    require(value.empty() || std::ranges::find(study.sweep, value, &Axis::key) != study.sweep.end(), "[measure] ", key,
            " = ", shown(value), " is not in [sweep]", [&] { return did_you_mean(value, swept_keys(study)); });
  }
  require(measure.facet.empty() || measure.facet != study.sweep.front().key, "[measure] facet = ", shown(measure.facet),
          " is the x axis; give another swept key");
  for (const auto& [key, value] : {std::pair("x_axis", measure.x_axis), std::pair("y_axis", measure.y_axis)}) {
    require(value.empty() || value == "linear" || value == "log", "[measure] ", key, " = ", shown(value),
            " is neither linear nor log");
  }
}

/// The cluster's own values of both keys are one more point.
bool is_of_the_cluster(const Axis& axis) { return axis.key.starts_with("cluster.") && parts_of(axis.key).size() == 1; }

void check_map(const Study& study) {
  require(study.map.has_value() || !study.learning, "[learning] gives a [map] its steps to the goal; add [map]");
  if (!study.map) return;
  require(study.sweep.size() == 2 && std::ranges::all_of(study.sweep, is_of_the_cluster),
          "[map] needs two keys in [sweep], both of the cluster, as cluster.nic_bandwidth and cluster.nic_latency");
  require(std::ranges::find(study.rows, study.map->against, &Row::name) != study.rows.end(),
          "[map] against = ", Quoted(study.map->against), " is no row");
  require(study.map->error >= 0 && study.map->error < 1, "[map] error = ", study.map->error,
          " is no share from 0 to 1, as 0.1");
  require(!study.target && !study.calibration && !study.selection && study.variants.empty(),
          "[map] compares rows as they are; leave [variant], [target], [calibrate] and [selection] out");
  require(study.learning.has_value() == study.goal.has_value(),
          "[map] takes [goal] and [learning], whose steps to it count, together or not at all");
  if (study.learning && !study.learning->seeds.empty()) check_axis({"seeds", study.learning->seeds}, "learning");
}

}  // namespace

double x_of(const Target& target, const std::string& value) {
  require(value.ends_with(target.unit), "[target] unit = ", shown(target.unit), ", but ", target.axis,
          " is swept over ", Quoted(value));
  return located("[target] axis = " + target.axis + ": ",
                 [&] { return parse_number(value.substr(0, value.size() - target.unit.size())); });
}

void require_name(const std::string& name, const std::string& what) {
  constexpr std::size_t longest = 100;
  const bool plain = std::all_of(name.begin(), name.end(), [](const unsigned char c) {
    return c < 128 && (std::isalnum(c) != 0 || c == '_' || c == '.' || c == '-');
  });
  require(plain && !name.empty() && name.size() <= longest && name != "." && name != "..", what, " ", Quoted(name),
          " cannot be part of a file's name; use at most ", longest,
          " letters, digits, '_', '.' and '-', and neither . nor .. alone");
}

void check(const Study& study) {
  require_name(study.name, "the study's name");
  for (const Axis& axis : study.sweep) check_axis(axis, "sweep");
  require_swept_once(study.sweep);
  check_variants(study);
  check_observations(study);
  if (study.target) check_target(study);
  if (study.calibration) check_calibration(study);
  check_measure(study);
  check_map(study);
  if (study.selection) {
    const Selection& selection = *study.selection;
    require(!selection.flag.empty() && !selection.grid.empty() && !selection.seeds.empty(),
            "[selection] needs choose, from and seeds");
    check_number(selection.by, "[selection] by");
    check_axis({"from", selection.grid}, "selection");
    check_axis({"seeds", selection.seeds}, "selection");
  }
}

}  // namespace trigram
