// What `trigram check` found: rows to print, and what does not hold.
#pragma once

#include <string>
#include <vector>

#include "core/conformance/finding.hpp"

namespace trigram {

struct Findings {
  /// Aligned when they are printed; the first names the columns, of which the last says what came of a row.
  std::vector<std::vector<std::string>> rows;
  std::string violations;

  /// Adds a row, whose first cell is the product; `refusal` is why it was not tried, or empty.
  void add(std::vector<std::string> cells, const std::string& refusal, const std::vector<Violation>& found);
};

}  // namespace trigram
