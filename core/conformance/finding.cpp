#include "core/conformance/finding.hpp"

namespace trigram {

void put_violations(Packer& packer, const std::vector<Violation>& violations) {
  packer.put(violations.size());
  for (const Violation& violation : violations) {
    packer.put_text(violation.invariant);
    packer.put_text(violation.text);
  }
}

std::vector<Violation> take_violations(Unpacker& unpacker) {
  std::vector<Violation> violations(unpacker.take<std::size_t>());
  for (Violation& violation : violations) {
    violation.invariant = unpacker.take_text();
    violation.text = unpacker.take_text();
  }
  return violations;
}

std::string text_of(const std::vector<Violation>& violations, const std::string& indent) {
  std::string text;
  for (const Violation& violation : violations) text += indent + violation.invariant + ": " + violation.text + "\n";
  return text;
}

}  // namespace trigram
