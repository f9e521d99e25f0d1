#include "core/world.hpp"

#include "core/error.hpp"

namespace trigram {

LaneLayout World::layout() const {
  require(bucket_lanes >= 1, bucket_lanes, " bucket lanes are too few; ask for 1 or more");
  return {bucket_lanes};
}

}  // namespace trigram
