// Reads tables of measurements.
#include "experiments/study/comparison/observations.hpp"

#include <map>

#include "core/values/error.hpp"
#include "core/values/located.hpp"
#include "core/values/quoted.hpp"
#include "experiments/settings/files/csv_table.hpp"
#include "experiments/settings/grid.hpp"

namespace trigram {
namespace {

/// Those that are no flags.
const CsvColumns observed_columns{"source",  "method", "condition", "used",  "against", "note",
                                  "seconds", "value",  "unit",      "count", "op",      "size"};

void check_observed_columns(const CsvColumns& columns) {
  require_flags(columns, observed_columns);
  require(columns.contains("seconds") != columns.contains("value"),
          "the time is column seconds, or columns value and unit");
  require(columns.contains("value") == columns.contains("unit"), "columns value and unit need each other");
}

double positive(const std::string& column, const std::string& text) {
  const double value = located(column + ": ", [&] { return parse_number(text); });
  require(value > 0, column, " ", Quoted(text), " is not above 0");
  return value;
}

double seconds_in(const CsvRow& row) {
  const auto number = [&](const char* column) {
    require(row.cells.contains(column), "there is no ", column);
    return positive(column, row.at(column));
  };
  if (row.cells.contains("seconds")) return number("seconds");
  const double value = number("value");
  const double count = row.cells.contains("count") ? number("count") : 1;
  const std::string unit = row.at("unit");
  static const std::map<std::string, double> seconds = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}};
  if (unit == "/s") return count / value;
  require(seconds.contains(unit), "unit ", Quoted(unit), " is none of s, ms, us and /s");
  return value * seconds.at(unit) / count;
}

/// A bench is a step that exchanges one tensor and computes nothing.
void add_exchange(const CsvRow& row, Settings& settings) {
  require(row.at("op") == "all_reduce", "op ", Quoted(row.at("op")), " is not all_reduce, which a step can time");
  require(row.cells.contains("size"), "there is no size of op all_reduce");
  settings["workload"] = "tensor:size=" + row.at("size");
  for (const auto& [flag, value] : Settings{{"algorithm", "all_reduce"}, {"bucket-size", "1TiB"}, {"overlap", "off"}})
    settings.emplace(flag, value);
}

/// Those that agreement.csv repeats as they are.
void require_plain_names(const CsvRow& row) {
  for (const char* column : {"source", "method", "condition", "used"}) {
    const std::string name = row.at(column);
    require(name.find_first_of(",\"") == std::string::npos, "column '", column, "': ", Quoted(name),
            " has a comma or a double quote, which a name cannot have; write another");
  }
}

Observation observation_of(const CsvRow& row, const std::string& table) {
  const auto first_of = [&](std::initializer_list<const char*> columns) {
    std::string cell;
    for (const char* column : columns) cell = cell.empty() ? row.at(column) : cell;
    return cell;
  };
  Observation read{.source = row.cells.contains("source") ? row.at("source") : table,
                   .method = first_of({"method", "system", "algorithm"}),
                   .condition = row.at("condition"),
                   .used = row.at("used"),
                   .against = row.at("against"),
                   .settings = row.without(observed_columns),
                   .seconds = seconds_in(row),
                   .line = row.line};
  require_plain_names(row);
  if (row.cells.contains("op")) add_exchange(row, read.settings);
  return read;
}

}  // namespace

std::vector<Observation> read_observations(const std::filesystem::path& file) {
  std::vector<Observation> all;
  for (const CsvRow& row : read_csv(file, "measurements", check_observed_columns))
    all.push_back(located(row.place, [&] { return observation_of(row, file.stem()); }));
  return all;
}

}  // namespace trigram
