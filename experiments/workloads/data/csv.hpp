// Tables of numbers with a label column.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trigram {

/// Where the class of a row stands.
enum class LabelColumn : std::uint8_t { first, last };

/// How a CSV file of samples is laid out.
struct CsvLayout {
  LabelColumn label = LabelColumn::last;
  bool header = false;  ///< the first line names columns and is passed over
};

/// Rows of features, row-major, and their labels.
struct CsvSamples {
  std::int64_t columns = 0;  ///< features a row
  std::vector<float> features;
  std::vector<std::int32_t> labels;
};

/// Reads a CSV file of finite numbers, gzip or plain. Throws UsageError with file, line and column for a field that is
/// no number, a row of another length, or a label that is no whole number from 0 to 65535; an empty line may only end
/// the file.
CsvSamples read_csv(const std::string& path, const CsvLayout& layout);

}  // namespace trigram
