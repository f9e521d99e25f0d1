// What the ranks of one simulated run share.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "backends/sim/all_ranks.hpp"
#include "backends/sim/cluster/cluster.hpp"
#include "backends/sim/disturbances.hpp"
#include "backends/sim/failures.hpp"
#include "backends/sim/gpu.hpp"
#include "backends/sim/losses.hpp"
#include "backends/sim/platform/network.hpp"
#include "backends/sim/platform/platform.hpp"
#include "backends/sim/traffic.hpp"
#include "backends/sim/watch.hpp"
#include "core/training/backend.hpp"

namespace trigram::sim {

/// How far a lane has come: what meets on a lane of several ranks is of equal ones.
struct LaneWork {
  std::int64_t step = 0;  ///< of its rank, counted from the first one of this process, when the body was started
  std::int64_t body = 0;  ///< of the lane, from 1 on
};

/// Everything the actors share. SimGrid runs one actor at a time, so there are no locks.
class Simulation {
 public:
  Simulation(const Cluster& cluster, const World& world);
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  /// Starts what keeps the run from hanging, planned events and foreign traffic, beside the actors of `ranks`.
  /// `everybody` is for error messages.
  void start(std::vector<RankRuntime*> ranks, std::shared_ptr<const Members> everybody);
  /// After the run: rethrows the first failure; throws BackendError for a host that failed, or a deadlock where not
  /// all ranks have ended.
  void require_success(bool all_ended) const;
  /// A JSON text for the outcome.
  std::string facts() const;

  const Cluster& cluster() const { return cluster_; }
  const World& world() const { return world_; }
  int ranks() const { return world_.ranks; }
  const LaneLayout& layout() const { return layout_; }
  int lanes() const { return layout_.lanes(); }
  const std::shared_ptr<const RankMap>& map() const { return map_; }
  double now() const { return simgrid::s4u::Engine::get_clock(); }

  Platform& platform() { return platform_; }
  Network& network() { return network_; }
  Gpu& gpu(int rank) { return gpus_[static_cast<std::size_t>(rank)]; }
  LaneWork& work(int rank, int lane) { return works_[static_cast<std::size_t>(rank * lanes() + lane)]; }
  Traffic& traffic() { return traffic_; }
  Losses& losses() { return losses_; }
  const Losses& losses() const { return losses_; }
  Failures& failures() { return failures_; }
  Watch& watch() { return watch_; }
  AllRanks& all_ranks() { return all_ranks_; }

 private:
  const Cluster& cluster_;
  World world_;
  LaneLayout layout_;
  Platform platform_;
  Network network_;
  std::deque<Gpu> gpus_;  ///< by rank
  std::shared_ptr<const RankMap> map_;
  std::vector<LaneWork> works_;  ///< by rank, then lane
  Traffic traffic_;
  Losses losses_;
  Failures failures_;
  Watch watch_;
  AllRanks all_ranks_;
  Disturbances disturbances_;
};

}  // namespace trigram::sim
