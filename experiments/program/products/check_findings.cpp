#include "experiments/program/products/check_findings.hpp"

#include <utility>

namespace trigram {

void Findings::add(std::vector<std::string> cells, const std::string& refusal, const std::vector<Violation>& found) {
  cells.push_back(!refusal.empty() ? "refused" : found.empty() ? "holds" : "does not hold");
  const std::string where = cells[0] + ", " + cells[1] + " " + rows.front()[1];
  rows.push_back(std::move(cells));
  if (!found.empty()) violations += where + "\n" + text_of(found, "  ");
}

}  // namespace trigram
