#include "core/world/lane_layout.hpp"

#include "core/values/error.hpp"

namespace trigram {

std::string LaneLayout::name_of(int lane) const {
  if (lane == 0) return "main lane";
  if (lane == background()) return "background lane";
  if (lane > background()) return "network lane of " + name_of(starter_of(lane));
  const int first = lane - 1;
  return "lane " + std::to_string(lane) + " (buckets " + std::to_string(first) + ", " +
         std::to_string(first + bucket_lanes) + ", ...)";
}

void LaneLayout::require_startable(int lane) const {
  ensure(lane >= 1 && lane < lanes(), "there is no lane ", lane, " to start on; there are lanes 1 to ", lanes() - 1);
}

}  // namespace trigram
