// Reads studies: every section has one reader, found by its name.
#include "experiments/study/study_file.hpp"

#include <algorithm>
#include <functional>
#include <map>

#include "core/registry/spelling.hpp"
#include "core/values/error.hpp"
#include "core/values/located.hpp"
#include "core/values/quoted.hpp"
#include "experiments/settings/files/config_file.hpp"
#include "experiments/settings/grid.hpp"
#include "experiments/study/comparison/curve_view.hpp"
#include "experiments/study/comparison/goal.hpp"
#include "experiments/study/study_check.hpp"

namespace trigram {
namespace {

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
       {"from", [&](const std::string& text) { selection.grid = words_in(text); }},
       {"by", text_into(selection.by)},
       {"seeds", [&](const std::string& text) { selection.seeds = words_in(text); }}},
      entry);
}

void read_calibration(Calibration& calibration, const ConfigEntry& entry) {
  if (entry.key.empty()) return;
  if (entry.key == "rows") {
    calibration.rows = words_in(entry.value);
  } else if (entry.key == "given") {
    calibration.given = words_in(entry.value);
  } else {
    calibration.grids.push_back({entry.key, expand_grid(words_in(entry.value))});
  }
}

void read_row(Row& row, const ConfigEntry& entry) {
  if (entry.key == "series") {
    row.series = entry.value;
  } else if (entry.key == "panel") {
    require_name(entry.value, "the panel");
    row.panel = entry.value;
  } else if (!entry.key.empty()) {
    row.settings[entry.key] = entry.value;
  }
}

void read_variant(Variant& variant, const ConfigEntry& entry) {
  if (entry.key == "rows") {
    variant.rows = words_in(entry.value);
  } else if (entry.key == "also") {
    variant.also = entry.value;
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

void read_head(Study& study, const ConfigEntry& entry) {
  set({{"title", text_into(study.title)},
       {"notes", [&](const std::string& text) { study.notes = study.file.parent_path() / text; }}},
      entry);
}

void read_sweep(Study& study, const ConfigEntry& entry) {
  if (!entry.key.empty()) study.sweep.push_back({entry.key, expand_grid(words_in(entry.value))});
}

void read_measure(Measure& measure, const ConfigEntry& entry) {
  set({{"value", text_into(measure.value)},
       {"scale", number_into(measure.scale)},
       {"label", text_into(measure.label)},
       {"x_label", text_into(measure.x_label)},
       {"x", text_into(measure.x)},
       {"facet", text_into(measure.facet)},
       {"x_axis", text_into(measure.x_axis)},
       {"y_axis", text_into(measure.y_axis)}},
      entry);
}

void read_map(WinnerMap& map, const ConfigEntry& entry) {
  set({{"against", text_into(map.against)}, {"error", number_into(map.error)}}, entry);
}

void read_curves(CurveView& curves, const ConfigEntry& entry) {
  set({{"against", [&](const std::string& text) { set_against(curves, text); }},
       {"scores", [&](const std::string& text) { set_scores(curves, text); }},
       {"x_axis", [&](const std::string& text) { set_x_axis(curves, text); }},
       {"range", [&](const std::string& text) { set_ranges(curves, text); }}},
      entry);
}

void read_learning(Learning& learning, const ConfigEntry& entry) {
  if (entry.key.empty()) return;
  if (entry.key == "seeds") {
    learning.seeds = words_in(entry.value);
  } else {
    learning.flags[entry.key] = entry.value;
  }
}

/// A row a measurement, named after its table and its line there.
void read_tables(Study& study, const ConfigEntry& entry) {
  const auto add = [&](const std::string& text) {
    for (const std::string& word : words_in(text)) {
      const std::filesystem::path table = study.file.parent_path() / word;
      for (Observation& one : read_observations(table)) {
        const std::string name = table.stem().string() + "." + std::to_string(one.line);
        require_name(name, "the name of the table's row");
        study.rows.push_back({name, one.method, "", one.settings, entry.line, one});
      }
    }
  };
  set({{"tables", add}}, entry);
}

void read_known(Calibration& calibration, const ConfigEntry& entry) {
  if (!entry.key.empty()) calibration.known[entry.key] = entry.value;
}

/// "summary.samples_per_s" is samples/s, "summary.breakdown.wire_s" breakdown wire time (s).
std::string words_of_path(const std::string& path) {
  std::string label = path.substr(path.find('.') + 1);
  std::replace_if(
      label.begin(), label.end(), [](char c) { return c == '.' || c == '_'; }, ' ');
  if (label.ends_with(" per s")) {
    label.replace(label.size() - 6, 6, "/s");
  } else if (label.ends_with(" s")) {
    label.replace(label.size() - 2, 2, " time (s)");
  }
  return label;
}

std::string label_of(const Study& study) {
  const Measure& measure = study.measure;
  const bool to_goal = study.goal && is_to_goal(measure.value);
  const std::string label = to_goal ? label_to_goal(measure.value, *study.goal) : words_of_path(measure.value);
  return measure.scale == 1 ? label : label + " x " + number_text(measure.scale);
}

/// A kind of section and its reader, which is called with the section's own line first. `name` stands after the dot of
/// "[row.NAME]".
struct Section {
  const char* kind;
  bool has_name;
  void (*read)(Study& study, const std::string& name, const ConfigEntry& entry);
};

using Name = const std::string&;
using Entry = const ConfigEntry&;

constexpr Section sections[] = {
    {"study", false, [](Study& study, Name, Entry entry) { read_head(study, entry); }},
    {"run", false, [](Study& study, Name, Entry entry) { read_run(study, entry); }},
    {"sweep", false, [](Study& study, Name, Entry entry) { read_sweep(study, entry); }},
    {"row", true, [](Study& study, Name name, Entry entry) { read_row(named(study.rows, name, entry), entry); }},
    {"measurements", false, [](Study& study, Name, Entry entry) { read_tables(study, entry); }},
    {"variant", true,
     [](Study& study, Name name, Entry entry) { read_variant(named(study.variants, name, entry), entry); }},
    {"measure", false, [](Study& study, Name, Entry entry) { read_measure(study.measure, entry); }},
    {"target", false, [](Study& study, Name, Entry entry) { read_target(part_of(study.target), study.file, entry); }},
    {"calibrate", false, [](Study& study, Name, Entry entry) { read_calibration(part_of(study.calibration), entry); }},
    {"calibrated", false, [](Study& study, Name, Entry entry) { read_known(part_of(study.calibration), entry); }},
    {"selection", false, [](Study& study, Name, Entry entry) { read_selection(part_of(study.selection), entry); }},
    {"goal", false,
     [](Study& study, Name, Entry entry) {
       set({{"loss", number_into(part_of(study.goal).loss)}}, entry);
     }},
    {"curves", false, [](Study& study, Name, Entry entry) { read_curves(study.curves, entry); }},
    {"map", false, [](Study& study, Name, Entry entry) { read_map(part_of(study.map), entry); }},
    {"learning", false, [](Study& study, Name, Entry entry) { read_learning(part_of(study.learning), entry); }}};

/// The key that [measure] draws along comes first.
void put_x_first(Study& study) {
  const auto x = std::ranges::find(study.sweep, study.measure.x, &Axis::key);
  if (x != study.sweep.end()) std::rotate(study.sweep.begin(), x, x + 1);
}

/// "study, run, ..., map and learning", for messages.
std::string kinds_of_sections() {
  std::string text;
  for (const Section& section : sections) {
    const bool is_last = &section == &sections[std::size(sections) - 1];
    text += (text.empty() ? ""
             : is_last    ? " and "
                          : ", ") +
            std::string(section.kind) + (section.has_name ? ".NAME" : "");
  }
  return text;
}

std::vector<std::string> kinds() {
  std::vector<std::string> all;
  for (const Section& section : sections) all.emplace_back(section.kind);
  return all;
}

void read_entry(Study& study, const ConfigEntry& entry) {
  const std::size_t dot = entry.section.find('.');
  const std::string kind = entry.section.substr(0, dot);
  const std::string name = dot == std::string::npos ? "" : entry.section.substr(dot + 1);
  const auto section = std::ranges::find_if(sections, [&](const Section& one) { return one.kind == kind; });
  require(
      section != std::end(sections) && section->has_name == !name.empty(), "[", entry.section,
      "] is no section of a study", [&] { return did_you_mean(kind, kinds()); }, "; there are ", kinds_of_sections);
  section->read(study, name, entry);
}

}  // namespace

Study read_study(const std::filesystem::path& file) {
  Study study;
  study.file = file;
  study.name = file.stem().string();
  study.title = study.name;
  for (const ConfigEntry& entry : read_config_file(file)) {
    located([&] { return place_of(file, entry); }, [&] { read_entry(study, entry); });
  }
  if (study.rows.empty()) study.rows.push_back({"all", "", "", {}, study.run_line});
  for (Row& row : study.rows) {
    if (row.series.empty()) row.series = row.name;
  }
  if (study.measure.label.empty()) study.measure.label = label_of(study);
  put_x_first(study);
  located(file.string() + ": ", [&] { check(study); });
  return study;
}

}  // namespace trigram
