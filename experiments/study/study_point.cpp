// Expands a study into runs.
#include "experiments/study/study_point.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>

#include "core/values/error.hpp"

namespace trigram {
namespace {

std::vector<Settings> product(const std::vector<Axis>& axes) {
  constexpr double most = 100'000;
  double points = 1;
  for (const Axis& axis : axes) points *= static_cast<double>(axis.values.size());
  require(points <= most, "[sweep] makes ", points, " runs of each row; at most ", most, " can be made");
  std::vector<Settings> all = {{}};
  for (const Axis& axis : axes) {
    std::vector<Settings> longer;
    for (const Settings& some : all) {
      for (const std::string& value : axis.values) longer.push_back(layered(some, {{axis.key, value}}));
    }
    all = std::move(longer);
  }
  return all;
}

bool takes_part(const Variant& variant, const Row& row) { return variant.rows.empty() || names_row(variant.rows, row); }

/// What a variant changes in a row, with what those before it do that it names; nothing where none of them has the row.
std::optional<Settings> changes(const Study& study, const Variant& variant, const Row& row) {
  std::optional<Settings> all;
  const Variant* next = &variant;
  while (next != nullptr) {
    if (takes_part(*next, row)) all = layered(next->settings, all.value_or(Settings{}));
    const auto before = std::ranges::find(study.variants, next->also, &Variant::name);
    next = before == study.variants.end() ? nullptr : &*before;
  }
  return all;
}

/// The flags that a combination of swept values stands for: keys that go together are taken apart.
Settings flags_of(const Settings& axes) {
  Settings flags;
  for (const auto& [keys, values] : axes) {
    const std::vector<std::string> parts = parts_of(keys);
    if (parts.size() == 1) {
      flags[keys] = values;
      continue;
    }
    const std::vector<std::string> of_parts = parts_of(values);
    for (std::size_t i = 0; i < parts.size(); ++i) flags[parts[i]] = of_parts.at(i);
  }
  return flags;
}

std::string place_of(const Study& study, const Row& row, const Variant& variant) {
  const int line = variant.name.empty() ? row.line : variant.line;
  return study.file.string() + (line > 0 ? ":" + std::to_string(line) : "") + ": row '" + row.name + "'" +
         (variant.name.empty() ? "" : ", variant '" + variant.name + "'") + ": ";
}

void add_row(const Study& study, const Settings& found, const Row& row, const Variant& variant, const Settings& changed,
             const VisitPoint& visit) {
  for (const Settings& axes : product(study.sweep)) {
    const Settings base = layered(layered(study.run, found), flags_of(axes));
    visit({row.name, row.series, variant.name, axes, layered(layered(base, row.settings), changed),
           place_of(study, row, variant)});
  }
}

VisitPoint into(std::vector<StudyPoint>& points) {
  return [&points](StudyPoint point) { points.push_back(std::move(point)); };
}

}  // namespace

void visit_main_points(const Study& study, const Settings& found, const VisitPoint& visit) {
  for (const Row& row : study.rows) add_row(study, found, row, Variant{}, {}, visit);
}

std::vector<StudyPoint> main_points(const Study& study, const Settings& found) {
  std::vector<StudyPoint> points;
  visit_main_points(study, found, into(points));
  return points;
}

std::vector<StudyPoint> variant_points(const Study& study, const Settings& found) {
  std::vector<StudyPoint> points;
  for (const Variant& variant : study.variants) {
    for (const Row& row : study.rows) {
      const std::optional<Settings> changed = changes(study, variant, row);
      if (changed) add_row(study, found, row, variant, *changed, into(points));
    }
  }
  return points;
}

std::vector<StudyPoint> own_points(const Study& study) {
  std::vector<StudyPoint> points;
  if (!study.map) return points;
  for (const Row& row : study.rows) {
    points.push_back(
        {row.name, row.series, own_network, {}, layered(study.run, row.settings), place_of(study, row, Variant{})});
  }
  return points;
}

std::vector<StudyPoint> learning_points(const Study& study) {
  std::vector<StudyPoint> points;
  if (!study.learning) return points;
  for (StudyPoint& point : own_points(study)) {
    point.variant = learning_runs;
    point.settings = layered(point.settings, study.learning->flags);
    if (study.learning->seeds.empty()) points.push_back(point);
    for (const std::string& seed : study.learning->seeds) {
      point.axes["seed"] = point.settings["seed"] = seed;
      points.push_back(point);
    }
  }
  return points;
}

std::string line_of(const Study& study, const StudyPoint& point) {
  std::string line = point.row;
  for (const std::string& key : line_keys(study)) line += ", " + key + "=" + point.axes.at(key);
  return line;
}

std::vector<std::string> lines_of(const Study& study) {
  std::vector<std::string> lines;
  std::set<std::string> seen;
  for (const StudyPoint& point : main_points(study, {})) {
    const std::string line = line_of(study, point);
    if (seen.insert(line).second) lines.push_back(line);
  }
  return lines;
}

double value_at(const nlohmann::json& run, const std::string& path) {
  std::string pointer = "/" + path;
  std::replace(pointer.begin(), pointer.end(), '.', '/');
  const nlohmann::json::json_pointer place(pointer);
  const bool number = run.contains(place) && run[place].is_number();
  return number ? run[place].get<double>() : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace trigram
