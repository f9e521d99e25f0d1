// The lanes of a rank as threads of its process.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/lane_groups.hpp"
#include "core/worker.hpp"
#include "processes/clock.hpp"
#include "processes/lane_context.hpp"
#include "processes/lane_thread.hpp"

namespace trigram {

/// What a backend makes of each lane.
struct LaneParts {
  std::function<std::shared_ptr<Kernels>()> kernels;
  /// Gives this rank's communicator in one of `lane_groups`, on the lane of that index.
  std::function<std::unique_ptr<Communicator>(int lane, const Parting&, const std::shared_ptr<LaneContext>&)>
      communicator;
};

/// All lanes, each with its thread, which ends first. The main lane has none: it is the thread that runs the rank.
class ThreadedLanes {
 public:
  /// Of the rank whose runtime `owner` is; it, the clock and the failure outlive them. Collective where the making of a
  /// communicator is. `timeout` as in LaneContext.
  ThreadedLanes(const RankRuntime& owner, const World& world, double timeout, const Clock& clock, Failure& failure,
                const LaneParts& parts);
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
