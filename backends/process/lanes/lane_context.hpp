// The name, timeout, failure, endings and device that the communicators of one lane use.
#pragma once

#include <string>

#include "backends/process/endings.hpp"
#include "backends/process/failure.hpp"
#include "core/device/device.hpp"

namespace trigram {

/// What the communicators of one lane share; the rank's failure and endings and the lane's device must outlive it.
struct LaneContext {
  LaneContext(std::string lane_name, double seconds, Failure& of_rank, Device& of_lane, Endings* told = nullptr)
      : name(std::move(lane_name)), timeout(seconds), failure(of_rank), device(of_lane), endings(told) {}

  /// "rank 3, step 5, lane 1 (buckets 0, 2, ...)", or "rank 3, main lane" outside of a run. On the lane's own thread
  /// only.
  std::string place(int rank) const {
    const Timeline& timeline = device.timeline();
    std::string where = timeline.where();
    if (!where.starts_with("rank ")) return "rank " + std::to_string(rank) + ", " + name;
    const std::string doing = timeline.doing();
    if (!doing.empty()) where.resize(where.size() - doing.size() - 2);  // ", all_reduce"
    return where;
  }

  std::string name;  ///< "main lane", "lane 1 (buckets 0, 2, ...)", "background lane"
  double timeout;    ///< seconds that one operation may wait; 0: forever
  Failure& failure;
  Device& device;
  Endings* endings;  ///< null where who has ended is not told, or does not matter
};

}  // namespace trigram
