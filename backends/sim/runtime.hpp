// What a simulated rank brings for its worker: lanes that are actors, and time.
#pragma once

#include <deque>
#include <memory>
#include <simgrid/s4u.hpp>
#include <vector>

#include "backends/sim/communicator/group.hpp"
#include "backends/sim/communicator/requests.hpp"
#include "core/lane/worker.hpp"

namespace trigram::sim {

class Simulation;

/// A rank's place in a group.
struct GroupMember {
  std::shared_ptr<Group> group;
  int rank = 0;  ///< in the group
};
/// The groups of all ranks on one lane: by their place in `lane_groups`, then by rank of the world.
using GroupsOfLane = std::vector<std::vector<GroupMember>>;

/// One rank. Its lanes become actors when they are first used.
class Runtime final : public RankRuntime {
 public:
  Runtime(Simulation& simulation, int rank, const std::vector<GroupsOfLane>& groups, Ends& ends);
  ~Runtime() override;

  Lane& lane(int index) override;
  double now() const override;
  double take_busy_seconds() override;
  Pending launch(int lane, std::function<void()> task) override;
  void run_in_place(int lane, const std::function<void()>& task) override;
  void step_ends() override;
  std::int64_t agree(std::int64_t value, ReduceOp op) override;
  void barrier() override;
  bool barrier_with_all_there() override;
  void resume_at(double seconds) override;
  void leave_behind(std::function<std::vector<std::byte>()> last) override { left_behind_ = std::move(last); }
  /// What it has to tell, if anything, where it is lost now.
  std::vector<std::byte> left_behind() const { return left_behind_ ? left_behind_() : std::vector<std::byte>(); }
  Requests& requests() override { return requests_; }
  /// A rank that fails ends the run in the same instant, before a task of its lanes could go on.
  void stop_lanes() override {}
  void collect(std::int64_t key, std::vector<std::byte> part, const std::function<void(Parts)>& complete) override;
  bool collect_is_free() const override { return true; }

  struct Task;
  struct Stream;

 private:
  void serve(Stream& stream, int lane);

  Simulation& simulation_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<std::unique_ptr<Stream>> streams_;
  SimRequests requests_;
  std::function<std::vector<std::byte>()> left_behind_;
};

}  // namespace trigram::sim
