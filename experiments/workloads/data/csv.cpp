// Parses CSV files of labelled samples.
#include "experiments/workloads/data/csv.hpp"

#include <charconv>
#include <cmath>
#include <string_view>

#include "core/values/error.hpp"
#include "core/values/quoted.hpp"
#include "experiments/workloads/data/read_file.hpp"
#include "experiments/workloads/data/separated.hpp"

namespace trigram {
namespace {

constexpr double last_label = 65535;

/// Where a row stands, for messages.
struct Place {
  const std::string& path;
  int line;
  std::string operator()() const { return path + ": line " + std::to_string(line); }
};

std::vector<float> parse_row(std::string_view line, const Place& place) {
  std::vector<float> row;
  for (const std::string_view field : comma_separated(line)) {
    float value = 0;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    require(error == std::errc() && end == field.data() + field.size() && std::isfinite(value), place, ", column ",
            row.size() + 1, ": ", Quoted(field), " is no finite number");
    row.push_back(value);
  }
  return row;
}

void append(CsvSamples& samples, const std::vector<float>& row, const CsvLayout& layout, const Place& place) {
  const auto columns = static_cast<std::int64_t>(row.size()) - 1;
  require(columns > 0, place, ": a row needs a label and at least one feature");
  if (samples.labels.empty()) samples.columns = columns;
  require(columns == samples.columns, place, ": ", columns + 1, " columns where the first row has ",
          samples.columns + 1);
  const bool first = layout.label == LabelColumn::first;
  const float label = first ? row.front() : row.back();
  require(label >= 0 && label <= last_label && label == std::floor(label), place, ": label ", label, " in the ",
          first ? "first" : "last", " column is no whole number from 0 to 65535");
  samples.labels.push_back(static_cast<std::int32_t>(label));
  samples.features.insert(samples.features.end(), row.begin() + (first ? 1 : 0), row.end() - (first ? 0 : 1));
}

/// What is no text shows it at its begin, before all of it is read.
void require_text(const std::string& path) {
  constexpr double looked_at = 1 << 16;
  const std::size_t zero = read_begin(path, looked_at).find('\0');
  require(zero == std::string::npos, path, ": byte ", zero, " is zero; a table in CSV is text");
}

}  // namespace

CsvSamples read_csv(const std::string& path, const CsvLayout& layout) {
  require_text(path);
  const std::string bytes = read_file(path);
  CsvSamples samples;
  std::string_view rest = bytes;
  for (int number = 1; !rest.empty(); ++number) {
    const std::string_view line = trimmed(take(rest, '\n'));
    const Place place{path, number};
    if (layout.header && number == 1) continue;
    if (line.empty() && trimmed(rest).empty()) break;
    append(samples, parse_row(line, place), layout, place);
  }
  require(!samples.labels.empty(), path, ": has no rows");
  return samples;
}

}  // namespace trigram
