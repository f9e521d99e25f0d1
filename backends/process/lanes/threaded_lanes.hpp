// The lanes of a rank as threads of its process.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "backends/process/lanes/lane_thread.hpp"
#include "backends/process/transport.hpp"
#include "core/lane/worker.hpp"
#include "processes/clock.hpp"

namespace trigram {

/// All lanes of a rank. Each lane but 0 has a thread, joined before the lane is destroyed; lane 0, the main lane, runs
/// on the thread that runs the rank.
class ThreadedLanes {
 public:
  /// Collective. `owner` is the rank's runtime; it, `clock` and `transport` must outlive this. `timeout` in seconds, as
  /// in LaneContext.
  ThreadedLanes(const RankRuntime& owner, const World& world, double timeout, const Clock& clock, Transport& transport);
  ~ThreadedLanes();
  ThreadedLanes(const ThreadedLanes&) = delete;
  ThreadedLanes& operator=(const ThreadedLanes&) = delete;

  Lane& lane(int index);
  const LaneContext& context(int index) const;
  /// As RankRuntime::launch.
  Pending launch(int lane, std::function<void()> task);

 private:
  struct OwnLane;
  std::vector<std::unique_ptr<OwnLane>> lanes_;
};

}  // namespace trigram
