// One lane of one rank, and what it owns.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "core/device/device.hpp"
#include "core/device/timeline.hpp"
#include "core/lane/communicator.hpp"
#include "core/lane/metered.hpp"
#include "core/world/rank_map.hpp"
#include "core/world/world.hpp"

namespace trigram {

/// A lane: a stream (a GPU stream, a thread, or an actor of the simulator) with communicators of its own, so that its
/// messages match its own only. It runs one task after another. LaneLayout numbers lanes. A backend sets the clock, the
/// device and the groups, in this order.
struct Lane {
  using MakeCommunicator = std::function<std::unique_ptr<Communicator>(std::size_t group)>;

  Lane(int index, const World& world, std::function<double()> clock);
  /// Makes the communicators of a rank, one for each of `lane_groups`, by its place there. They use the run's
  /// all-reduce and are metered. The map outlives the lane.
  void join_groups(const World& world, const RankMap& map, int rank, const MakeCommunicator& make);

  int index;
  Timeline timeline;
  Meter meter;
  std::unique_ptr<Device> device;
  std::unique_ptr<Communicator> comm;     ///< this rank's data-parallel group: all ranks, where there is no mesh
  std::unique_ptr<Communicator> node;     ///< its ranks on this node, in rank order
  std::unique_ptr<Communicator> leaders;  ///< its ranks with the same local rank, one per node, in node order
  /// The ranks that differ from this one on one other axis of the mesh alone, by the axis' name.
  std::map<std::string, std::unique_ptr<Communicator>, std::less<>> other_axes;
};

}  // namespace trigram
