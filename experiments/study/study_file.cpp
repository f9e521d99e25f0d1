// Reads studies: every section has one reader, found by its name.
#include "experiments/study/study_file.hpp"

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <set>
#include <sstream>

#include "core/error.hpp"
#include "core/quoted.hpp"
#include "core/spelling.hpp"
#include "experiments/record/run_record.hpp"
#include "experiments/settings/config_file.hpp"
#include "experiments/settings/grid.hpp"

namespace trigram {
namespace {

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> all;
  for (std::string word; stream >> word;) all.push_back(word);
  return all;
}

/// Rows, variants and studies name folders and files, which must not lie elsewhere.
void require_name(const std::string& name, const std::string& what) {
  constexpr std::size_t longest = 100;
  const bool plain = std::all_of(name.begin(), name.end(), [](const unsigned char c) {
    return c < 128 && (std::isalnum(c) != 0 || c == '_' || c == '.' || c == '-');
  });
  require(plain && !name.empty() && name.size() <= longest && name != "." && name != "..", what, " ", Quoted(name),
          " cannot be part of a file's name; use at most ", longest,
          " letters, digits, '_', '.' and '-', and neither . nor .. alone");
}

/// The product of Name in "[kind.Name]"; a section's own line comes first.
template <class Named>
Named& named(std::vector<Named>& all, const std::string& name, const ConfigEntry& entry) {
  if (entry.key.empty()) {
    require_name(name, "the name");
    all.emplace_back();
    all.back().name = name;
    all.back().line = entry.line;
  }
  return all.back();
}

/// Sets one of the keys that a section knows; the message of an unknown key lists them.
using Setters = std::map<std::string, std::function<void(const std::string&)>>;

void set(const Setters& setters, const ConfigEntry& entry) {
  if (entry.key.empty()) return;
  const auto found = setters.find(entry.key);
  if (found != setters.end()) return found->second(entry.value);
  std::vector<std::string> known;
  std::string list;
  for (const auto& [key, setter] : setters) list += " " + known.emplace_back(key);
  throw UsageError("[" + entry.section + "] has no key " + in_quotes(entry.key) + did_you_mean(entry.key, known) +
                   "; it takes:" + list);
}

template <class Value>
std::function<void(const std::string&)> text_into(Value& place) {
  return [&place](const std::string& text) { place = text; };
}

std::function<void(const std::string&)> number_into(double& place) {
  return [&place](const std::string& text) { place = parse_number(text); };
}

template <class Part>
Part& part_of(std::optional<Part>& part) {
  if (!part) part.emplace();
  return *part;
}

void read_target(Target& target, const std::filesystem::path& study, const ConfigEntry& entry) {
  const auto aim = [&](const std::string& text) {
    const std::size_t colon = text.find(':');
    require(colon != std::string::npos, "aim = " + text + " is no range; write LOW:HIGH");
    target.aim_low = parse_number(text.substr(0, colon));
    target.aim_high = parse_number(text.substr(colon + 1));
  };
  set({{"file", [&](const std::string& text) { target.file = study.parent_path() / text; }},
       {"x", text_into(target.x)},
       {"series", text_into(target.series)},
       {"value", text_into(target.value)},
       {"axis", text_into(target.axis)},
       {"unit", text_into(target.unit)},
       {"aim", aim}},
      entry);
}

void read_selection(Selection& selection, const ConfigEntry& entry) {
  set({{"choose", text_into(selection.flag)},
       {"from", [&](const std::string& text) { selection.grid = words(text); }},
       {"by", text_into(selection.by)},
       {"seeds", [&](const std::string& text) { selection.seeds = words(text); }}},
      entry);
}

void read_calibration(Calibration& calibration, const ConfigEntry& entry) {
  if (entry.key.empty()) return;
  if (entry.key == "rows") {
    calibration.rows = words(entry.value);
  } else if (entry.key == "given") {
    calibration.given = words(entry.value);
  } else {
    calibration.grids.push_back({entry.key, expand_grid(words(entry.value))});
  }
}

void read_row(Row& row, const ConfigEntry& entry) {
  if (!entry.key.empty()) (entry.key == "series" ? row.series : row.settings[entry.key]) = entry.value;
}

void read_variant(Variant& variant, const ConfigEntry& entry) {
  if (entry.key == "rows") {
    variant.rows = words(entry.value);
  } else if (!entry.key.empty()) {
    variant.settings[entry.key] = entry.value;
  }
}

void read_run(Study& study, const ConfigEntry& entry) {
  if (entry.key.empty()) {
    study.run_line = entry.line;
  } else {
    study.run[entry.key] = entry.value;
  }
}

void read_entry(Study& study, const ConfigEntry& entry) {
  const std::size_t dot = entry.section.find('.');
  const std::string kind = entry.section.substr(0, dot);
  const std::string name = dot == std::string::npos ? "" : entry.section.substr(dot + 1);
  require((kind == "row" || kind == "variant") == !name.empty(), "[" + entry.section + "] is no section of a study");
  const std::map<std::string, std::function<void()>> sections = {
      {"study",
       [&] {
         set({{"title", text_into(study.title)},
              {"notes", [&](const std::string& text) { study.notes = study.file.parent_path() / text; }}},
             entry);
       }},
      {"run", [&] { read_run(study, entry); }},
      {"sweep",
       [&] {
         if (!entry.key.empty()) study.sweep.push_back({entry.key, expand_grid(words(entry.value))});
       }},
      {"row", [&] { read_row(named(study.rows, name, entry), entry); }},
      {"variant", [&] { read_variant(named(study.variants, name, entry), entry); }},
      {"measure",
       [&] {
         set({{"value", text_into(study.measure.value)},
              {"scale", number_into(study.measure.scale)},
              {"label", text_into(study.measure.label)},
              {"x_label", text_into(study.measure.x_label)}},
             entry);
       }},
      {"target", [&] { read_target(part_of(study.target), study.file, entry); }},
      {"calibrate", [&] { read_calibration(part_of(study.calibration), entry); }},
      {"calibrated",
       [&] {
         if (!entry.key.empty()) part_of(study.calibration).known[entry.key] = entry.value;
       }},
      {"selection", [&] { read_selection(part_of(study.selection), entry); }},
      {"goal", [&] {
         set({{"loss", number_into(part_of(study.goal).loss)}}, entry);
       }}};
  const auto section = sections.find(kind);
  require(section != sections.end(), "[" + entry.section +
                                         "] is no section of a study; there are study, run, sweep, row.NAME, "
                                         "variant.NAME, measure, target, calibrate, calibrated, selection and goal");
  section->second();
}

void require_rows(const Study& study, const std::vector<std::string>& names, const std::string& section) {
  for (const std::string& name : names) {
    const bool known =
        std::any_of(study.rows.begin(), study.rows.end(), [&](const Row& row) { return row.name == name; });
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
  const bool swept =
      std::any_of(study.sweep.begin(), study.sweep.end(), [&](const Axis& axis) { return axis.key == target.axis; });
  require(swept, "[target] axis = " + target.axis + " is not in [sweep]");
  const std::vector<std::string> others = line_keys(study);
  require(others.empty(), "[sweep] " + (others.empty() ? "" : others.front()) +
                              ": published points are compared along one swept key, first in [sweep], and over seeds");
}

void check_number(const std::string& path, const std::string& what) {
  const std::vector<std::string> known = measurable();
  if (std::find(known.begin(), known.end(), path) != known.end()) return;
  std::string message = what + " = " + path + " is no number of run.json; there are:";
  for (const std::string& one : known) message += " " + one;
  throw UsageError(message);
}

/// "summary.samples_per_s" is samples/s, "summary.breakdown.wire_s" breakdown wire time (s).
std::string label_of(const Measure& measure) {
  std::string label = measure.value.substr(measure.value.find('.') + 1);
  std::replace_if(
      label.begin(), label.end(), [](char c) { return c == '.' || c == '_'; }, ' ');
  if (label.ends_with(" per s")) {
    label.replace(label.size() - 6, 6, "/s");
  } else if (label.ends_with(" s")) {
    label.replace(label.size() - 2, 2, " time (s)");
  }
  return measure.scale == 1 ? label : label + " x " + number_text(measure.scale);
}

void check_axis(const Axis& axis, const std::string& section) {
  const std::string place = "[" + section + "] " + axis.key + " has ";
  require(!axis.values.empty(), place + "no values");
  std::set<std::string> seen;
  for (const std::string& value : axis.values) require(seen.insert(value).second, place + "'" + value + "' twice");
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

void check(const Study& study) {
  require_name(study.name, "the study's name");
  for (const Axis& axis : study.sweep) check_axis(axis, "sweep");
  for (const Variant& variant : study.variants) require_rows(study, variant.rows, "variant." + variant.name);
  if (study.target) check_target(study);
  if (study.calibration) check_calibration(study);
  check_number(study.measure.value, "[measure] value");
  if (study.selection) {
    const Selection& selection = *study.selection;
    require(!selection.flag.empty() && !selection.grid.empty() && !selection.seeds.empty(),
            "[selection] needs choose, from and seeds");
    check_number(selection.by, "[selection] by");
    check_axis({"from", selection.grid}, "selection");
    check_axis({"seeds", selection.seeds}, "selection");
  }
}

}  // namespace

std::vector<std::string> line_keys(const Study& study) {
  std::vector<std::string> keys;
  for (std::size_t i = 1; i < study.sweep.size(); ++i) {
    if (study.sweep[i].key != "seed") keys.push_back(study.sweep[i].key);
  }
  return keys;
}

Study read_study(const std::filesystem::path& file) {
  Study study;
  study.file = file;
  study.name = file.stem().string();
  study.title = study.name;
  for (const ConfigEntry& entry : read_config_file(file)) {
    try {
      read_entry(study, entry);
    } catch (const UsageError& error) {
      throw UsageError(place_of(file, entry) + error.what());
    }
  }
  if (study.rows.empty()) study.rows.push_back({"all", "", {}, study.run_line});
  for (Row& row : study.rows) {
    if (row.series.empty()) row.series = row.name;
  }
  if (study.measure.label.empty()) study.measure.label = label_of(study.measure);
  try {
    check(study);
  } catch (const UsageError& error) {
    throw UsageError(file.string() + ": " + error.what());
  }
  return study;
}

}  // namespace trigram
