// A cost as people read it.
#pragma once

#include <iosfwd>
#include <string>

#include "core/values/cost.hpp"

namespace trigram {

/// "6 rounds, 96 bytes"
std::string text_of(const Cost& cost);
std::ostream& operator<<(std::ostream& out, const Cost& cost);

}  // namespace trigram
