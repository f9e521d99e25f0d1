// What a check says of a product.
#pragma once

#include <string>
#include <vector>

#include "core/values/packing.hpp"

namespace trigram {

/// Something that was promised and does not hold.
struct Violation {
  std::string invariant;  ///< "cost", "mean", "replicas", …
  std::string text;       ///< where, what was found and what would be right
};

/// Violations as bytes, for another process.
void put_violations(Packer& packer, const std::vector<Violation>& violations);
std::vector<Violation> take_violations(Unpacker& unpacker);

/// One line a violation, each behind `indent`.
std::string text_of(const std::vector<Violation>& violations, const std::string& indent);

}  // namespace trigram
