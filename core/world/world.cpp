#include "core/world/world.hpp"

#include "core/values/error.hpp"

namespace trigram {

LaneLayout World::layout() const {
  require(bucket_lanes >= 1, bucket_lanes, " bucket lanes are too few; ask for 1 or more");
  require(hierarchy_chunks >= 1, hierarchy_chunks, " chunks of a hierarchy are too few; ask for 1 or more");
  return {bucket_lanes, hierarchy_chunks};
}

}  // namespace trigram
