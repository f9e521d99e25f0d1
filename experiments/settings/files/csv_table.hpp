// Tables in CSV that users and sources give.
#pragma once

#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "experiments/settings/settings.hpp"

namespace trigram {

/// A line of a table.
struct CsvRow {
  std::string place;  ///< "FILE:LINE: ", for messages
  int line = 0;       ///< counts from 1, the heading included
  Settings cells;     ///< by column, those that are not empty

  /// The cell of that column; empty where there is none.
  std::string at(const std::string& column) const;
  /// The cells of all other columns.
  Settings without(const std::set<std::string>& columns) const;
};

using CsvColumns = std::set<std::string>;

/// Reads a table: a heading line with a name for each column, then a row a line. A cell with commas stands in double
/// quotes, in which two of them are one; empty lines and those that begin with # are passed over. `check` throws
/// UsageError where columns are wrong. `what` is in it, for messages: "measurements". Throws UsageError naming file,
/// line and value, also where there is no row.
std::vector<CsvRow> read_csv(const std::filesystem::path& file, const std::string& what,
                             const std::function<void(const CsvColumns&)>& check);

/// Throws UsageError unless each column is one of `own`, a flag of `trigram run`, or FLAG.PARAMETER.
void require_flags(const CsvColumns& columns, const CsvColumns& own);

}  // namespace trigram
