// The ranks of one simulated run, inside its process: their groups, their actors, and what they bring home.
#pragma once

#include <memory>
#include <vector>

#include "backends/sim/communicator/requests.hpp"
#include "backends/sim/runtime.hpp"
#include "backends/sim/simulation.hpp"

namespace trigram::sim {

/// One a process: SimGrid's engine cannot be made twice.
class Ranks {
 public:
  Ranks(const Cluster& cluster, const World& world);
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  /// Runs every rank to its end. Rethrows the first failure; throws BackendError for a host that failed or a deadlock.
  Outcome run(const RankBody& body);

 private:
  std::vector<GroupsOfLane> make_groups();
  void run_one(int rank, const RankBody& body);
  void start_losses();
  /// It goes in this instant, with what it has to tell, unless it is at its end.
  void lose(int rank);

  Simulation simulation_;
  std::shared_ptr<const Group> everybody_;
  Ends ends_;
  std::vector<std::unique_ptr<Runtime>> runtimes_;
  Outcome outcome_;
  int ended_ = 0, lost_ = 0;
  /// Held, so that memory of all stacks goes with the process: SimGrid would give back each by itself.
  std::vector<simgrid::s4u::ActorPtr> actors_;
};

}  // namespace trigram::sim
