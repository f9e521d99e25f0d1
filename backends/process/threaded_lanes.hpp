// The lanes of a rank as threads of its process.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "backends/process/lane_thread.hpp"
#include "backends/process/transport.hpp"
#include "core/lane/worker.hpp"
#include "processes/clock.hpp"

namespace trigram {

/// All lanes, each with its thread, which ends first. The main lane has none: it is the thread that runs the rank.
class ThreadedLanes {
 public:
  /// Of the rank whose runtime `owner` is; it, the clock and the transport outlive them. Collective. `timeout` as in
  /// LaneContext.
  ThreadedLanes(const RankRuntime& owner, const World& world, double timeout, const Clock& clock, Transport& transport);
  ~ThreadedLanes();
  ThreadedLanes(const ThreadedLanes&) = delete;
  ThreadedLanes& operator=(const ThreadedLanes&) = delete;

  Lane& lane(int index);
  const LaneContext& context(int index) const;
  /// As RankRuntime::launch.
  Pending launch(int lane, std::function<void()> body);

 private:
  struct OwnLane;
  std::vector<std::unique_ptr<OwnLane>> lanes_;
};

}  // namespace trigram
