#include "backends/process/lanes/threaded_lanes.hpp"

#include <utility>

namespace trigram {

struct ThreadedLanes::OwnLane {
  OwnLane(int index, const RankRuntime& owner, const World& world, double timeout, const Clock& clock,
          Transport& transport, const std::vector<RankPartition>& partitions)
      : lane(index, world, [&clock] { return clock.now(); }) {
    lane.device = std::make_unique<Device>(transport.kernels(), lane.timeline);
    context = std::make_shared<LaneContext>(world.layout().name_of(index), timeout, transport.failure(), *lane.device,
                                            transport.endings());
    lane.join_groups(world, owner.map(), owner.rank(),
                     [&](std::size_t group) { return transport.communicator(index, partitions[group], context); });
    if (index > 0) thread = std::make_unique<LaneThread>(transport.failure());
  }

  Lane lane;
  std::shared_ptr<LaneContext> context;
  std::unique_ptr<LaneThread> thread;
};

ThreadedLanes::ThreadedLanes(const RankRuntime& owner, const World& world, double timeout, const Clock& clock,
                             Transport& transport) {
  const std::vector<RankPartition> partitions = lane_groups(owner.map());
  for (int index = 0; index < owner.lanes(); ++index)
    lanes_.push_back(std::make_unique<OwnLane>(index, owner, world, timeout, clock, transport, partitions));
}

ThreadedLanes::~ThreadedLanes() = default;

Lane& ThreadedLanes::lane(int index) { return lanes_.at(static_cast<std::size_t>(index))->lane; }

const LaneContext& ThreadedLanes::context(int index) const {
  return *lanes_.at(static_cast<std::size_t>(index))->context;
}

Pending ThreadedLanes::launch(int lane, std::function<void()> task) {
  return lanes_.at(static_cast<std::size_t>(lane))->thread->launch(std::move(task));
}

}  // namespace trigram
