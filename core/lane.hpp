// What one lane of one rank owns.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "core/communicator.hpp"
#include "core/device.hpp"
#include "core/metered.hpp"
#include "core/timeline.hpp"
#include "core/world.hpp"

namespace trigram {

/// One lane, as LaneLayout numbers it. It has communicators of its own, so that its messages match its own only. A
/// backend brings the clock, the device and the groups, in this order.
struct Lane {
  using MakeCommunicator = std::function<std::unique_ptr<Communicator>(std::size_t group)>;

  Lane(int index, const World& world, std::function<double()> clock);
  /// Makes the communicators, one for each of `lane_groups`, by its place there. They use the run's all-reduce and are
  /// metered.
  void join_groups(const World& world, const MakeCommunicator& make);

  int index;
  Timeline timeline;
  Meter meter;
  std::unique_ptr<Device> device;
  std::unique_ptr<Communicator> comm;     ///< all ranks
  std::unique_ptr<Communicator> node;     ///< the ranks of this node, in rank order
  std::unique_ptr<Communicator> leaders;  ///< the ranks with the same local rank, one a node, in node order
};

}  // namespace trigram
