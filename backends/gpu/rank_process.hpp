// This process as a rank: its GPU, its streams and its groups, made once and used by every run.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "backends/gpu/host/hosts.hpp"
#include "backends/gpu/watchdog.hpp"
#include "core/world/lane_groups.hpp"

namespace trigram::gpu {

/// A group of NCCL, and who is in it.
struct GroupOfLane {
  std::string name;  ///< "all ranks", "node", "leaders"
  std::shared_ptr<NcclGroup> group;
  std::vector<int> world_ranks;  ///< by rank of the group
};

/// What a lane keeps between runs.
struct LaneChannels {
  explicit LaneChannels(bool urgent) : stream(urgent) {}
  Stream stream;
  std::shared_ptr<NcclGroup> all;   ///< of which the others are parts
  std::vector<GroupOfLane> groups;  ///< as `lane_groups` has them
};

/// Takes a GPU and loads NCCL. All ranks make theirs together.
class RankProcess {
 public:
  /// `report` is for the watchdog, which ends the process; operations may take `timeout` seconds, 0: forever. Without
  /// a `device` it takes one by its place among the ranks of its host. With a `way_out` the process goes on without its
  /// ranks, and each has a GPU of its own.
  RankProcess(Rendezvous& rendezvous, std::vector<RankLocation> locations, double timeout,
              std::function<void(const std::string&)> report, Calls calls, std::optional<int> device = std::nullopt,
              std::shared_ptr<WayOut> way_out = nullptr);
  ~RankProcess();
  RankProcess(const RankProcess&) = delete;
  RankProcess& operator=(const RankProcess&) = delete;

  Rendezvous& rendezvous() { return rendezvous_; }
  Watchdog& watchdog() { return *watchdog_; }
  int device() const { return device_; }
  /// The channels of so many lanes for these groups, in lane order; collective where they are not there yet.
  std::vector<LaneChannels*> channels(int lanes, const std::vector<RankPartition>& partitions, double timeout);
  /// What the report says of devices, libraries and settings.
  nlohmann::json facts() const;

  /// The end of a rank that went well: leaves NCCL.
  void finish() noexcept;
  /// The end of one that did not: tells the others why, aborts.
  void fail(const std::string& reason) noexcept { watchdog_->fail(reason); }

 private:
  void warm_up(const GroupOfLane& group, const LaneChannels& channels, int lane);
  std::unique_ptr<LaneChannels> make_channels(int lane, const std::vector<RankPartition>& partitions, double timeout);

  Rendezvous& rendezvous_;
  std::vector<RankLocation> locations_;
  Calls calls_;
  std::shared_ptr<WayOut> way_out_;
  int device_ = 0;
  Environment settings_;  ///< variables that we set for CUDA and NCCL
  std::unique_ptr<Watchdog> watchdog_;
  std::map<std::vector<RankPartition>, std::vector<std::unique_ptr<LaneChannels>>> channels_;
};

}  // namespace trigram::gpu
