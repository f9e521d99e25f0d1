// Reads tables of measurements.
#include "experiments/fit/measurements.hpp"

#include <optional>

#include "core/values/error.hpp"
#include "core/values/located.hpp"
#include "core/values/quoted.hpp"
#include "experiments/settings/files/csv_table.hpp"

namespace trigram {
namespace {

const CsvColumns measured_columns{"op", "seconds", "size", "source"};

/// Where a run leaves its files, and what a fit decides, is nothing that a measurement says.
const CsvColumns not_of_a_measurement{"backend", "checkpoint", "checkpoint-every", "cluster", "config",
                                      "out",     "progress",   "resume",           "trace"};

void check_measured_columns(const CsvColumns& columns) {
  for (const std::string& column : columns) {
    require(!not_of_a_measurement.contains(column), "column ", Quoted(column), " is nothing that a measurement says",
            column == "cluster" ? "; give --cluster, and what differs between rows as cluster.KEY" : "");
  }
  require_flags(columns, measured_columns);
  require(columns.contains("seconds"), "there is no column 'seconds'");
}

double seconds_of(const std::string& text) {
  require(!text.empty(), "there is no value; write seconds, as 0.531 or 531ms");
  const std::optional<double> number = finite_number(text);
  const double seconds = number ? *number : parse_quantity(text, Unit::seconds);
  require(seconds > 0, Quoted(text), " is no time; write more than 0 seconds");
  return seconds;
}

Measurement measurement_of(const CsvRow& row) {
  Measurement read{.place = row.place,
                   .line = row.line,
                   .source = row.at(row.at("source").empty() ? "system" : "source"),
                   .settings = row.without(measured_columns),
                   .op = row.at("op"),
                   .size = row.at("size"),
                   .seconds = located("column 'seconds': ", [&] { return seconds_of(row.at("seconds")); })};
  require(read.op.empty() == read.size.empty(), "column '", read.op.empty() ? "op" : "size",
          "': there is no value; a bench has both op and size, a run neither");
  return read;
}

}  // namespace

std::vector<Measurement> read_measurements(const std::filesystem::path& file) {
  std::vector<Measurement> all;
  for (const CsvRow& row : read_csv(file, "measurements", check_measured_columns))
    all.push_back(located(row.place, [&] { return measurement_of(row); }));
  return all;
}

}  // namespace trigram
