// What a user measured: a table of runs and benches with the seconds that they took.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/settings/settings.hpp"

namespace trigram {

/// One row of the table.
struct Measurement {
  std::string place;   ///< "FILE:LINE: ", for messages
  int line = 0;        ///< counts from 1, the heading included
  std::string source;  ///< rows of one source are left out together: column source, else that of flag system
  Settings settings;   ///< flags of `trigram run` in all but the cluster, which has keys "cluster.KEY" alone
  std::string op;      ///< a collective of `trigram bench`; empty: a training iteration
  std::string size;    ///< of its buffer
  double seconds = 0;  ///< above 0
};

/// Reads a table as read_csv does, a measurement a row. Columns are `seconds` (a number, or a quantity as
/// 31ms), `source`, `op` and `size`, and any flag of `trigram run` or one parameter of the cluster as
/// cluster.nic_bandwidth; an empty cell says nothing of its flag. Throws
/// UsageError naming file, line, column and value.
std::vector<Measurement> read_measurements(const std::filesystem::path& file);

}  // namespace trigram
