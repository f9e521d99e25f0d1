// Measurements of others: tables of what was run, as flags, and of what it took.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/settings/settings.hpp"

namespace trigram {

/// One measured iteration.
struct Observation {
  std::string source;     ///< whose it is; errors are reported by source
  std::string method;     ///< what ran, as tables name it
  std::string condition;  ///< under what; measurements of one source under one condition are ranked against each other
  std::string used;       ///< what was found by looking at this one, which so predicts nothing; empty: it is predicted
  std::string against;    ///< the method that it is meant to be faster than, under the same condition; empty: none
  Settings settings;      ///< flags of `trigram run`
  double seconds = 0;     ///< of an iteration
  int line = 0;           ///< of its table
};

/// Reads a table as read_csv does. Of the columns, source, method, condition, used and against are as above, and `note`
/// is passed over; the time is `seconds`, or `value` in `unit` (s, ms, us or /s), of `count` iterations together (of so
/// many a second): an epoch of 115 iterations, or a throughput of 512 samples an iteration. A cell of `op`, all_reduce,
/// with one of `size` makes the row a bench of it. Every other column is a flag, FLAG or FLAG.PARAMETER, of the rows
/// whose cell is not empty. Where there is no column source it is the table's name. Throws UsageError naming file and
/// line.
std::vector<Observation> read_observations(const std::filesystem::path& file);

}  // namespace trigram
