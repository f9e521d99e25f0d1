// Reads tables of measurements.
#include "experiments/study/observations.hpp"

#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "core/error.hpp"
#include "core/located.hpp"
#include "core/quoted.hpp"
#include "core/spelling.hpp"
#include "experiments/settings/grid.hpp"
#include "experiments/settings/run_config.hpp"
#include "experiments/settings/text_file.hpp"
#include "experiments/settings/utf8.hpp"
#include "experiments/workloads/data/separated.hpp"

namespace trigram {
namespace {

using Texts = std::vector<std::string>;
/// Column → cell, of the cells that are not empty.
using RowCells = std::map<std::string, std::string>;

Texts split_line(std::string_view line) {
  Texts cells;
  for (const std::string_view cell : comma_separated(line)) cells.emplace_back(cell);
  return cells;
}

/// Columns that are no flags.
const std::set<std::string>& own_columns() {
  static const std::set<std::string> names = {"source",  "method", "condition", "used",  "against", "note",
                                              "seconds", "value",  "unit",      "count", "op",      "size"};
  return names;
}

void check_columns(const Texts& header) {
  std::vector<std::string> known(own_columns().begin(), own_columns().end());
  for (const Params::Declared& flag : run_flags()) known.push_back(flag.key);
  std::set<std::string> seen;
  for (const std::string& column : header) {
    const std::string flag = column.substr(0, column.find('.'));
    require(seen.insert(column).second, "column ", Quoted(column), " is there twice");
    require(std::ranges::find(known, own_columns().contains(column) ? column : flag) != known.end(), "column ",
            Quoted(column), " is neither one of a table of measurements nor a flag of trigram run",
            [&] { return did_you_mean(column, known); });
  }
  require(seen.contains("seconds") != seen.contains("value"), "the time is column seconds, or columns value and unit");
  require(seen.contains("value") == seen.contains("unit"), "columns value and unit need each other");
}

double positive(const std::string& column, const std::string& text) {
  const double value = located(column + ": ", [&] { return parse_number(text); });
  require(value > 0, column, " ", Quoted(text), " is not above 0");
  return value;
}

double seconds_in(const RowCells& row) {
  const auto number = [&](const char* column) {
    require(row.contains(column), "there is no ", column);
    return positive(column, row.at(column));
  };
  if (row.contains("seconds")) return number("seconds");
  const double value = number("value");
  const double count = row.contains("count") ? number("count") : 1;
  const std::string unit = row.contains("unit") ? row.at("unit") : "";
  static const std::map<std::string, double> seconds = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}};
  if (unit == "/s") return count / value;
  require(seconds.contains(unit), "unit ", Quoted(unit), " is none of s, ms, us and /s");
  return value * seconds.at(unit) / count;
}

/// A bench is a step that exchanges one tensor and computes nothing.
void add_exchange(const RowCells& row, Settings& settings) {
  require(row.at("op") == "all_reduce", "op ", Quoted(row.at("op")), " is not all_reduce, which a step can time");
  require(row.contains("size"), "there is no size of op all_reduce");
  settings["workload"] = "tensor:size=" + row.at("size");
  for (const auto& [flag, value] : Settings{{"algorithm", "all_reduce"}, {"bucket-size", "1TiB"}, {"overlap", "off"}})
    settings.emplace(flag, value);
}

Observation observation_of(const RowCells& row, const std::string& table, int line) {
  const auto text = [&](const char* column) { return row.contains(column) ? row.at(column) : ""; };
  Observation read{.source = row.contains("source") ? row.at("source") : table,
                   .method = text("method"),
                   .condition = text("condition"),
                   .used = text("used"),
                   .against = text("against"),
                   .settings = {},
                   .seconds = seconds_in(row),
                   .line = line};
  for (const auto& [column, cell] : row) {
    if (!own_columns().contains(column)) read.settings[column] = cell;
  }
  if (row.contains("op")) add_exchange(row, read.settings);
  if (read.method.empty()) read.method = text("system").empty() ? text("algorithm") : text("system");
  return read;
}

RowCells cells_by_name(const Texts& header, const Texts& cells) {
  require(cells.size() == header.size(), cells.size(), " cells where the header has ", header.size());
  RowCells row;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (!cells[i].empty()) row[header[i]] = cells[i];
  }
  return row;
}

}  // namespace

std::vector<Observation> read_observations(const std::filesystem::path& file) {
  const std::string name = file.string();
  constexpr std::size_t most_bytes = 1 << 20;
  const std::optional<std::string> text = read_text(file, most_bytes + 1);
  require(text.has_value(), "cannot read ", Quoted(name));
  require(text->size() <= most_bytes, Quoted(name), " is longer than ", most_bytes,
          " bytes; it cannot be a table of measurements");
  std::vector<Observation> all;
  Texts header;
  std::string_view rest = *text;
  for (int number = 1; !rest.empty(); ++number) {
    const std::string_view line = take(rest, '\n');
    if (trimmed(line).empty() || trimmed(line).front() == '#') continue;
    const std::string place = name + ":" + std::to_string(number);
    require_utf8(std::string(line), place);
    located(place + ": ", [&] {
      if (!header.empty())
        return all.push_back(observation_of(cells_by_name(header, split_line(line)), file.stem(), number));
      check_columns(header = split_line(line));
    });
  }
  require(!all.empty(), Quoted(name), " has no measurements");
  return all;
}

}  // namespace trigram
