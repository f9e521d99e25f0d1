// Reads tables in CSV.
#include "experiments/settings/files/csv_table.hpp"

#include <algorithm>
#include <string_view>

#include "core/registry/spelling.hpp"
#include "core/values/error.hpp"
#include "core/values/located.hpp"
#include "core/values/quoted.hpp"
#include "experiments/settings/files/text_file.hpp"
#include "experiments/settings/files/utf8.hpp"
#include "experiments/settings/run_config.hpp"
#include "experiments/workloads/data/separated.hpp"

namespace trigram {
namespace {

/// In their order.
using CsvFields = std::vector<std::string>;

CsvFields fields_of(std::string_view line) {
  CsvFields fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += line[i++];
    } else if (line[i] == '"' && (quoted || trimmed(fields.back()).empty())) {
      quoted = !quoted;
    } else if (line[i] == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += line[i];
    }
  }
  require(!quoted, "a double quote is not closed");
  for (std::string& field : fields) field = std::string(trimmed(field));
  return fields;
}

CsvFields heading_of(std::string_view line, const std::function<void(const CsvColumns&)>& check) {
  const CsvFields heading = fields_of(line);
  CsvColumns columns;
  for (const std::string& column : heading) {
    require(!column.empty(), "a column has no name");
    require(columns.insert(column).second, "column ", Quoted(column), " is there twice");
  }
  check(columns);
  return heading;
}

Settings cells_of(std::string_view line, const CsvFields& heading) {
  const CsvFields fields = fields_of(line);
  require(fields.size() == heading.size(), fields.size(), " cells where the heading has ", heading.size());
  Settings cells;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (!fields[i].empty()) cells[heading[i]] = fields[i];
  }
  return cells;
}

std::string text_of_csv(const std::filesystem::path& file, const std::string& what) {
  std::error_code missing;
  require(std::filesystem::is_regular_file(file, missing), Quoted(file.native()), " does not exist or is no file");
  return text_by_hand(file, "a table of " + what);
}

}  // namespace

std::string CsvRow::at(const std::string& column) const {
  const auto found = cells.find(column);
  return found == cells.end() ? "" : found->second;
}

Settings CsvRow::without(const std::set<std::string>& columns) const {
  Settings others = cells;
  for (const std::string& column : columns) others.erase(column);
  return others;
}

std::vector<CsvRow> read_csv(const std::filesystem::path& file, const std::string& what,
                             const std::function<void(const CsvColumns&)>& check) {
  const std::string name = file.string(), text = text_of_csv(file, what);
  std::string_view rest = text;
  CsvFields heading;
  std::vector<CsvRow> rows;
  for (int number = 1; !rest.empty(); ++number) {
    const std::string_view line = trimmed(take(rest, '\n'));
    if (line.empty() || line.front() == '#') continue;
    const std::string place = name + ":" + std::to_string(number);
    require_utf8(std::string(line), place);
    located(place + ": ", [&] {
      if (!heading.empty()) return rows.push_back({place + ": ", number, cells_of(line, heading)});
      heading = heading_of(line, check);
    });
  }
  require(!rows.empty(), Quoted(name), " has no ", what, "; write a heading line, and a row a line below it");
  return rows;
}

void require_flags(const CsvColumns& columns, const CsvColumns& own) {
  std::vector<std::string> known(own.begin(), own.end());
  for (const Params::Declared& flag : run_flags()) known.push_back(flag.key);
  for (const std::string& column : columns) {
    const std::string flag = own.contains(column) ? column : column.substr(0, column.find('.'));
    require(std::ranges::find(known, flag) != known.end(), "column ", Quoted(column), did_you_mean(flag, known),
            " is no flag of trigram run, and none of ", [&] {
              std::string all;
              for (const std::string& one : own) all += (all.empty() ? "" : ", ") + one;
              return all;
            });
  }
}

}  // namespace trigram
