// One rank of a group, as the code that acts for it sees it.
#pragma once

#include <memory>

#include "backends/sim/communicator/group.hpp"
#include "backends/sim/simulation.hpp"

namespace trigram::sim {

struct GroupRank {
  std::shared_ptr<Group> group;
  int rank;  ///< of the group
  Device& device;
  Simulation& simulation;

  GroupRank(std::shared_ptr<Group> its_group, int its_rank, Device& its_device)
      : group(std::move(its_group)), rank(its_rank), device(its_device), simulation(group->simulation()) {}

  int size() const { return group->size(); }
  /// Its rank of the world.
  int of_world() const { return group->member(rank); }
  /// The buffers that all ranks of a collective bring.
  const std::vector<Buffer>& brought() const { return group->meeting().buffers; }

  /// Comes to a collective with its vector, which then lies where the others find it. Throws BackendError where a rank
  /// of the group is gone, once it is missed.
  void enter(Buffer x) const {
    group->require_whole(rank);
    if (simulation.failures().any_dead()) group->require_all_there(rank);
    group->meeting().buffers[at(rank)] = x;
  }
};

/// A collective or an exchange of a rank, from its begin to its end.
class Call {
 public:
  /// `operation` is for messages, and outlives the call.
  Call(const GroupRank& member, const char* operation, std::span<const Transfer> transfers = {})
      : on_gpu_(member.simulation.gpu(member.of_world())),
        blocked(member.simulation.watch(), member.simulation.watch().op(member.of_world(), member.group->lane()),
                operation, *member.group, transfers) {}

 private:
  Gpu::InCollective on_gpu_;

 public:
  Blocked blocked;
};

}  // namespace trigram::sim
