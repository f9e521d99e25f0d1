// Numbers for people and for files.
#pragma once

#include <string>

namespace trigram {

/// `value` with at most so many significant digits, without zeros behind the last that counts: 0.25, 1.2e-07, nan.
std::string decimal(double value, int digits);

}  // namespace trigram
