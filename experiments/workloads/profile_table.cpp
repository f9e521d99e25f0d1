// Parses profile tables.
#include "experiments/workloads/profile_table.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>

#include "core/values/error.hpp"
#include "core/values/located.hpp"
#include "core/values/quoted.hpp"
#include "core/values/units.hpp"
#include "experiments/workloads/data/read_file.hpp"
#include "experiments/workloads/data/shared_cache.hpp"

namespace trigram {
namespace {

using Row = std::map<std::string, std::string, std::less<>>;

constexpr double milliseconds = 1e-3;
/// Of a layer: 1e9 seconds, the longest time that can be asked for anywhere, and work far above that of any model.
constexpr double most_ms = 1e12, most_flops = 1e24, most_activations = 1e18;
const std::set<std::string, std::less<>> known_columns{"layer",      "tensor",        "parameters",     "dimensions",
                                                       "decays",     "forward_flops", "backward_flops", "activations",
                                                       "forward_ms", "backward_ms"};

std::vector<std::string> split(std::string_view line, char separator = ',') {
  std::vector<std::string> fields(1);
  for (const char c : line) {
    if (c == separator) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

double number(const Row& row, std::string_view column, double most, const std::string& place) {
  const auto found = row.find(column);
  if (found == row.end() || found->second.empty()) return 0;
  const std::string& text = found->second;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  require(error == std::errc() && end == text.data() + text.size() && value >= 0 && value <= most, place, ": ", column,
          " ", Quoted(text), " is no number from 0 to ", number_text(most));
  return value;
}

std::int64_t whole_number(const Row& row, std::string_view column, const std::string& place) {
  constexpr double most = 1e12;  // so that no sum of them overflows
  const double value = number(row, column, most, place);
  require(value == std::floor(value), place, ": ", column, " ", value, " is no whole number");
  return static_cast<std::int64_t>(value);
}

/// The row's dimensions, which have `parameters` elements; empty where the row does not say.
Dimensions dimensions(const Row& row, std::int64_t parameters, const std::string& place) {
  const auto found = row.find("dimensions");
  if (found == row.end() || found->second.empty()) return {};
  Dimensions all;
  double product = 1;
  for (const std::string& length : split(found->second, 'x')) {
    const std::int64_t one = whole_number({{"dimensions", length}}, "dimensions", place);
    require(one > 0, place, ": dimensions ", Quoted(found->second), " are no positive lengths such as 64x3x7x7");
    all.push_back(one);
    product *= static_cast<double>(one);
  }
  require(product == static_cast<double>(parameters), place, ": dimensions ", Quoted(found->second), " have ", product,
          " elements, and the tensor has ", parameters, " parameters");
  return all;
}

void read_key(ProfileTable& table, std::string_view line, const std::string& place) {
  line.remove_prefix(std::min(line.find_first_not_of("# "), line.size()));
  const std::size_t colon = line.find(": ");
  const std::string key(line.substr(0, colon));
  const std::string value(colon == std::string_view::npos ? "" : line.substr(colon + 2));
  if (key == "summary") {
    table.summary = value;
  } else if (key == "source") {
    table.source += (table.source.empty() ? "" : " ") + value;
  } else if (key == "batch") {
    table.batch = whole_number({{"batch", value}}, "batch", place);
    require(table.batch > 0, place, ": a batch must be positive");
  } else if (key == "compute" || key == "rest") {
    (key == "rest" ? table.rest_seconds : table.compute_seconds) = located(place + ": " + key + ": ", [&] {
      if (const auto range = uncertain_value(value)) table.ranges[key] = *range;
      return parse_quantity(without_range(value), Unit::seconds);
    });
  } else {
    throw UsageError(place + ": " + in_quotes(key) +
                     " is none of the keys summary, source, batch, compute, rest; write '# key: value'");
  }
}

std::vector<std::string> read_columns(std::string_view line, const std::string& place) {
  std::vector<std::string> columns = split(line);
  for (const std::string& column : columns) {
    require(known_columns.contains(column), place, ": unknown column ", Quoted(column));
  }
  const auto has = [&](const char* name) { return std::find(columns.begin(), columns.end(), name) != columns.end(); };
  for (const char* needed : {"layer", "tensor", "parameters", "decays"}) {
    require(has(needed), place, ": column '", needed, "' is missing");
  }
  require(has("forward_flops") || (has("forward_ms") && has("backward_ms")), place,
          ": costs are missing; give a column forward_flops, or forward_ms and backward_ms");
  return columns;
}

void add_row(ProfileTable& table, const Row& row, const std::string& place) {
  const std::string& layer = row.find("layer")->second;
  require(!layer.empty() && !row.find("tensor")->second.empty(), place, ": a row needs a layer and a tensor");
  if (table.layers.empty() || table.layers.back().name != layer) {
    require(
        std::none_of(table.layers.begin(), table.layers.end(), [&](const ProfileLayer& l) { return l.name == layer; }),
        place, ": layer ", Quoted(layer), " began further up; the rows of a layer must follow each other");
    table.layers.push_back({.name = layer});
  }
  ProfileLayer& cost = table.layers.back();
  const double forward = number(row, "forward_flops", most_flops, place);
  cost.forward_flops += forward;
  cost.backward_flops +=
      row.contains("backward_flops") ? number(row, "backward_flops", most_flops, place) : 2 * forward;
  cost.activations += number(row, "activations", most_activations, place);
  cost.forward_seconds += milliseconds * number(row, "forward_ms", most_ms, place);
  cost.backward_seconds += milliseconds * number(row, "backward_ms", most_ms, place);
  const std::int64_t decays = whole_number(row, "decays", place);
  require(decays <= 1, place, ": decays is 1 where weight decay applies, else 0");
  const std::int64_t parameters = whole_number(row, "parameters", place);
  table.parameters.push_back({.name = layer + "." + row.find("tensor")->second,
                              .modelled_count = parameters,
                              .layer = static_cast<int>(table.layers.size()) - 1,
                              .decays = decays == 1,
                              .modelled_dimensions = dimensions(row, parameters, place)});
}

}  // namespace

std::int64_t ProfileTable::total_parameters() const {
  std::int64_t total = 0;
  for (const Parameter& parameter : parameters) total += parameter.modelled_count;
  return total;
}

bool ProfileTable::has_measured_layers() const {
  return std::any_of(layers.begin(), layers.end(),
                     [](const ProfileLayer& layer) { return layer.forward_seconds > 0 || layer.backward_seconds > 0; });
}

double ProfileTable::seconds_of_layers() const {
  double seconds = 0;
  for (const ProfileLayer& layer : layers) seconds += layer.forward_seconds + layer.backward_seconds;
  return seconds;
}

ProfileTable read_profile_table(const std::string& path) {
  constexpr double most_bytes = 64 << 20;  // a million layers
  const std::string bytes = read_file(path, most_bytes);
  ProfileTable table;
  table.file = path;
  table.name = std::filesystem::path(path).stem().string();
  std::vector<std::string> columns;
  std::string_view rest = bytes;
  for (int line_number = 1; !rest.empty(); ++line_number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::string place = path + ": line " + std::to_string(line_number);
    if (line.empty()) continue;
    if (line.starts_with('#')) {
      read_key(table, line, place);
    } else if (columns.empty()) {
      columns = read_columns(line, place);
    } else {
      const std::vector<std::string> fields = split(line);
      require(fields.size() == columns.size(), place, ": ", fields.size(), " fields where ", columns.size(),
              " columns are named");
      Row row;
      for (std::size_t i = 0; i < fields.size(); ++i) row[columns[i]] = fields[i];
      add_row(table, row, place);
    }
  }
  require(table.total_parameters() > 0, path + ": has no parameters");
  return table;
}

std::shared_ptr<const ProfileTable> shared_profile_table(const std::string& path) {
  static SharedCache<std::string, ProfileTable> cache;
  return cache.get(path, [&] { return read_profile_table(path); });
}

}  // namespace trigram
