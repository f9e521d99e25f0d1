#include "ptx/checks/lane_order.hpp"

#include <algorithm>

#include "ptx/execution/lanes.hpp"

namespace trigram::ptx {

void LaneOrder::begin_block(std::uint32_t number, std::size_t warps) {
  block_ = number;
  epoch_ = 0;
  warps_.assign(warps, {});
}

void LaneOrder::pass_block_barrier() {
  ++epoch_;
  for (Warp& warp : warps_) {
    if (warp.version > 1) warp = {};
  }
}

void LaneOrder::pass_warp_barrier(std::uint32_t number, std::uint32_t lanes) {
  Warp& warp = warps_[number];
  std::array<std::uint32_t, lanes_of_warp> seen{};
  over(lanes, [&](std::uint32_t lane) {
    for (std::size_t other = 0; other < lanes_of_warp; ++other)
      seen[other] = std::max(seen[other], warp.seen[lane][other]);
  });
  over(lanes, [&](std::uint32_t lane) { seen[lane] = warp.version; });
  over(lanes, [&](std::uint32_t lane) { warp.seen[lane] = seen; });
  ++warp.version;
}

bool LaneOrder::precedes(const Time& then, std::uint32_t then_lane, std::uint32_t warp, std::uint32_t lane) const {
  if (then.block != block_) return false;
  if (then.epoch != epoch_) return true;
  if (then.warp != warp) return false;
  return then_lane == lane || warps_[warp].seen[lane][then_lane] >= then.version;
}

}  // namespace trigram::ptx
