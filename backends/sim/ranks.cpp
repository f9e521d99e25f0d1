#include "backends/sim/ranks.hpp"

#include <algorithm>
#include <numeric>

#include "backends/sim/communicator/group.hpp"
#include "backends/sim/engine/blocking.hpp"
#include "core/world/lane_groups.hpp"

namespace trigram::sim {

namespace sg = simgrid::s4u;

Ranks::Ranks(const Cluster& cluster, const World& world) : simulation_(cluster, world) {
  const std::vector<GroupsOfLane> groups = make_groups();
  std::vector<int> all(static_cast<std::size_t>(world.ranks));
  std::iota(all.begin(), all.end(), 0);
  everybody_ = std::make_shared<Group>(simulation_, std::move(all), 0, "all ranks");
  for (int rank = 0; rank < world.ranks; ++rank)
    runtimes_.push_back(std::make_unique<Runtime>(simulation_, rank, groups, ends_));
}

/// By lane.
std::vector<GroupsOfLane> Ranks::make_groups() {
  const LaneLayout& layout = simulation_.layout();
  std::vector<GroupsOfLane> made(static_cast<std::size_t>(layout.lanes()));
  for (const RankPartition& partition : lane_groups(*simulation_.map())) {
    const std::vector<std::vector<int>> groups = partition.groups();
    for (int lane = 0; lane < layout.lanes(); ++lane) {
      auto& of_rank = made[static_cast<std::size_t>(lane)].emplace_back(static_cast<std::size_t>(simulation_.ranks()));
      for (const std::vector<int>& members : groups) {
        const auto group = std::make_shared<Group>(simulation_, members, lane, partition.name);
        for (int rank = 0; rank < group->size(); ++rank)
          of_rank[static_cast<std::size_t>(group->member(rank))] = {group, rank};
      }
    }
  }
  return made;
}

Outcome Ranks::run(const RankBody& body) {
  const int ranks = simulation_.ranks();
  outcome_.results.resize(static_cast<std::size_t>(ranks));
  std::vector<RankRuntime*> runtimes;
  for (int rank = 0; rank < ranks; ++rank) {
    runtimes.push_back(runtimes_[static_cast<std::size_t>(rank)].get());
    actors_.push_back(sg::Actor::create("rank", simulation_.platform().hosts[static_cast<std::size_t>(rank)],
                                        [this, rank, &body] { run_one(rank, body); }));
  }
  simulation_.start(std::move(runtimes), everybody_);
  start_losses();
  sg::Engine::get_instance()->run();
  simulation_.require_success(ended_ + lost_ == ranks);
  outcome_.facts = simulation_.facts();
  return std::move(outcome_);
}

void Ranks::start_losses() {
  for (const LostRank& lost : simulation_.losses().all()) {
    sg::Actor::create("loss", simulation_.platform().service, [this, lost] {
      blocking([&] { sg::this_actor::sleep_until(lost.second); });
      lose(lost.rank);
    })->daemonize();
  }
}

void Ranks::lose(int rank) {
  std::vector<std::byte>& result = outcome_.results[static_cast<std::size_t>(rank)];
  if (!result.empty()) return;
  result = runtimes_[static_cast<std::size_t>(rank)]->left_behind();
  ++lost_;
  simulation_.failures().mark_dead(rank);
  blocking([&] { simulation_.platform().hosts[static_cast<std::size_t>(rank)]->turn_off(); });
  blocking([] { sg::this_actor::yield(); });  // its actors end before others stop waiting for them
  simulation_.all_ranks().lose(rank);
  ends_[static_cast<std::size_t>(rank)]->leave();
}

void Ranks::run_one(int rank, const RankBody& body) {
  const Standstill::Actor actor(simulation_.watch().standstill());
  std::exception_ptr error;
  try {
    outcome_.results[static_cast<std::size_t>(rank)] = body(*runtimes_[static_cast<std::size_t>(rank)]);
    blocking([] {});  // a rank that was killed in a destructor ends here at the latest
    outcome_.seconds = std::max(outcome_.seconds, simulation_.now());
    ++ended_;
    simulation_.watch().note_end(rank);
  } catch (const simgrid::ForcefulKillException&) {
    if (!simulation_.failures().failing()) simulation_.failures().mark_dead(rank);
    throw;
  } catch (...) {
    error = std::current_exception();
  }
  if (error) simulation_.failures().fail(error);
}

}  // namespace trigram::sim
