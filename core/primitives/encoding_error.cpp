#include "core/primitives/encoding_error.hpp"

#include <algorithm>
#include <cmath>

namespace trigram {

double encoding_error(std::span<const Shape> vectors, const Codec& codec) {
  double largest = 0;
  for (const Shape& vector : vectors) largest = std::max(largest, codec.properties(vector.modelled_count).bound);
  return std::sqrt(largest);
}

}  // namespace trigram
