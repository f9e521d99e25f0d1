// A stream's default notation.
#include "core/values/decimal.hpp"

#include <sstream>

namespace trigram {

std::string decimal(double value, int digits) {
  std::ostringstream text;
  text.precision(digits);
  text << value;
  return text.str();
}

}  // namespace trigram
