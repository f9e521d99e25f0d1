#include "core/compression/encoding_error.hpp"

#include <algorithm>
#include <cmath>

namespace trigram {

double encoding_error(std::span<const BucketLayout> buckets, const Codec& codec) {
  double largest = 0;
  for (const BucketLayout& bucket : buckets)
    largest = std::max(largest, codec.properties(bucket.shape.modelled_count).bound);
  return std::sqrt(largest);
}

}  // namespace trigram
