// Reads tables of measurements.
#include "experiments/fit/measurements.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include "core/error.hpp"
#include "core/located.hpp"
#include "core/quoted.hpp"
#include "core/spelling.hpp"
#include "experiments/settings/run_config.hpp"
#include "experiments/settings/text_file.hpp"
#include "experiments/settings/utf8.hpp"
#include "experiments/workloads/data/separated.hpp"

namespace trigram {
namespace {

using Fields = std::vector<std::string>;

/// Where a run leaves its files, and what a fit decides, is nothing that a measurement says.
const std::set<std::string> not_of_a_measurement{"backend", "checkpoint", "checkpoint-every", "cluster", "config",
                                                 "out",     "progress",   "resume",           "trace"};

/// Fields between commas; one that begins with a double quote ends at the next, and two of them in it are one.
Fields cells_of(std::string_view line) {
  Fields cells(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      cells.back() += line[i++];
    } else if (line[i] == '"' && (quoted || trimmed(cells.back()).empty())) {
      quoted = !quoted;
    } else if (line[i] == ',' && !quoted) {
      cells.emplace_back();
    } else {
      cells.back() += line[i];
    }
  }
  require(!quoted, "a double quote is not closed");
  for (std::string& cell : cells) cell = std::string(trimmed(cell));
  return cells;
}

void check_column(const std::string& name, std::set<std::string>& seen) {
  require(!name.empty(), "a column has no name");
  require(seen.insert(name).second, "column ", Quoted(name), " is there twice");
  if (name == "seconds" || name == "source" || name == "op" || name == "size") return;
  require(!not_of_a_measurement.contains(name), "column ", Quoted(name), " is nothing that a measurement says",
          name == "cluster" ? "; give --cluster, and what differs between rows as cluster.KEY" : "");
  std::vector<std::string> known{"seconds", "source", "op", "size"};
  for (const Params::Declared& flag : run_flags()) known.push_back(flag.key);
  const std::string flag = name.substr(0, name.find('.'));
  require(std::ranges::find(known, flag) != known.end(), "column ", Quoted(name), did_you_mean(flag, known),
          " is no flag of trigram run, and none of seconds, source, op and size");
}

double seconds_of(const std::string& text) {
  require(!text.empty(), "there is no value; write seconds, as 0.531 or 531ms");
  const std::optional<double> number = finite_number(text);
  const double seconds = number ? *number : parse_quantity(text, Unit::seconds);
  require(seconds > 0, Quoted(text), " is no time; write more than 0 seconds");
  return seconds;
}

void set_cell(Measurement& row, const std::string& column, const std::string& cell) {
  if (column == "seconds") {
    row.seconds = seconds_of(cell);
  } else if (column == "source") {
    row.source = cell;
  } else if (column == "op") {
    row.op = cell;
  } else if (column == "size") {
    row.size = cell;
  } else if (!cell.empty()) {
    row.settings[column] = cell;
  }
}

Measurement read_row(const Fields& columns, const Fields& cells) {
  require(cells.size() == columns.size(), cells.size(), " cells where the heading has ", columns.size());
  Measurement row;
  for (std::size_t i = 0; i < cells.size(); ++i)
    located([&] { return "column '" + columns[i] + "': "; }, [&] { set_cell(row, columns[i], cells[i]); });
  require(row.op.empty() == row.size.empty(), "column '", row.op.empty() ? "op" : "size",
          "': there is no value; a bench has both op and size, a run neither");
  if (row.source.empty() && row.settings.contains("system")) row.source = row.settings.at("system");
  return row;
}

std::string text_of_table(const std::filesystem::path& file) {
  constexpr std::size_t most_bytes = 1 << 20;
  const std::string name = file.string();
  std::error_code missing;
  require(std::filesystem::is_regular_file(file, missing), Quoted(name), " does not exist or is no file");
  std::optional<std::string> text = read_text(file, most_bytes + 1);
  require(text.has_value(), "cannot read ", Quoted(name), ": ", std::strerror(errno));
  require(text->size() <= most_bytes, Quoted(name), " is longer than ", most_bytes,
          " bytes; it cannot be a list of measurements");
  return *std::move(text);
}

}  // namespace

std::vector<Measurement> read_measurements(const std::filesystem::path& file) {
  const std::string text = text_of_table(file);
  std::string_view rest = text;
  Fields columns;
  std::vector<Measurement> rows;
  for (int number = 1; !rest.empty(); ++number) {
    const std::string_view line = take(rest, '\n');
    const std::string place = file.string() + ":" + std::to_string(number) + ": ";
    require_utf8(std::string(line), file.string() + ":" + std::to_string(number));
    if (trimmed(line).empty()) continue;
    located(place, [&] {
      if (!columns.empty()) {
        rows.push_back(read_row(columns, cells_of(line)));
        rows.back().place = place;
        rows.back().line = number;
        return;
      }
      columns = cells_of(line);
      std::set<std::string> seen;
      for (const std::string& column : columns) check_column(column, seen);
      require(seen.contains("seconds"), "there is no column 'seconds'");
    });
  }
  require(!rows.empty(), Quoted(file.string()), " has no measurement; write a heading line, and one a line below it");
  return rows;
}

}  // namespace trigram
