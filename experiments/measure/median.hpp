// The middle of what was measured.
#pragma once

#include <span>

namespace trigram {

/// The middle one, or the mean of the middle two. Throws Error for none.
double median(std::span<const double> values);

}  // namespace trigram
