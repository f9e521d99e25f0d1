#include "core/conformance/finding.hpp"

namespace trigram {

std::string text_of(const std::vector<Violation>& violations, const std::string& indent) {
  std::string text;
  for (const Violation& violation : violations) text += indent + violation.invariant + ": " + violation.text + "\n";
  return text;
}

}  // namespace trigram
