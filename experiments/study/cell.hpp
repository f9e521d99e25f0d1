// A cell: one run of a study as a line of a file, which any machine with the same program can make.
#pragma once

#include <filesystem>
#include <istream>
#include <optional>
#include <string>
#include <vector>

#include "experiments/study/runs/run_costs.hpp"
#include "experiments/study/runs/run_task.hpp"

namespace trigram {

/// The line of a cell, a JSON object: its name ("ROW-HASH", of its whole configuration and of the program), the digest
/// of the program, how long it is expected to take in seconds and what memory in bytes (null where no run like it has
/// been made), whether it was tried and failed, the command that makes it alone, and what makes it here: its flags.
std::string cell_line(const RunTask& task, const RunCost& expected, bool failed);

/// The cells of a file or of standard input, `name` in messages, in their order, each once, as runs of that study
/// folder. Throws UsageError naming the line: for a cell of another build of the program, and for one that is not what
/// its flags make.
std::vector<RunTask> read_cells(std::istream& lines, const std::string& name, const std::filesystem::path& study);

/// Of `of` shares, which cover all cells and have none in common, the `number`-th, from 1.
struct CellShare {
  std::size_t number = 1, of = 1;

  /// Reads "3/16"; nothing where the text is of another form. Throws UsageError for 0/16 and 17/16.
  static std::optional<CellShare> read(const std::string& text);
  /// Depends on the cell alone: neither on what else there is, nor on what is finished.
  bool has(const RunTask& task) const;
};

}  // namespace trigram
