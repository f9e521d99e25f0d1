// Starts the ranks, gathers what they bring home, and reports the first failure.
#include "backends/sim/simulation.hpp"

#include <simgrid/version.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>

#include "backends/sim/blocking.hpp"
#include "backends/sim/group.hpp"
#include "backends/sim/runtime.hpp"
#include "core/error.hpp"
#include "core/lane_groups.hpp"

namespace trigram::sim {

namespace sg = simgrid::s4u;

std::string seconds_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g s", seconds);
  return text;
}

Simulation::Simulation(const Cluster& cluster, const World& world)
    : cluster_(cluster),
      world_(world),
      layout_(world.layout()),
      platform_(cluster, world.ranks),
      map_(std::make_shared<RankMap>(world.axes(), platform_.node_of_rank)) {
  const auto n = static_cast<std::size_t>(world.ranks);
  stations_.resize(n * static_cast<std::size_t>(lanes()));
  left_.resize(n);
  dead_since_.assign(n, std::numeric_limits<double>::infinity());
  sent_.assign(static_cast<std::size_t>(platform_.nics()), 0);
  received_ = sent_;
  agreement_ = sg::Barrier::create(static_cast<unsigned>(world.ranks));
  watch_wanted_ = sg::Semaphore::create(0);
  const std::vector<GroupsOfLane> groups = make_groups();
  std::vector<int> all(n);
  std::iota(all.begin(), all.end(), 0);
  everybody_ = std::make_shared<Group>(*this, std::move(all), 0, "all ranks");
  for (int rank = 0; rank < world.ranks; ++rank) runtimes_.push_back(std::make_unique<Runtime>(*this, rank, groups));
}

Simulation::~Simulation() = default;

/// By lane.
std::vector<GroupsOfLane> Simulation::make_groups() {
  std::vector<GroupsOfLane> made(static_cast<std::size_t>(lanes()));
  for (const Parting& parting : lane_groups(*map_)) {
    const std::vector<std::vector<int>> groups = parting.groups();
    for (int lane = 0; lane < lanes(); ++lane) {
      auto& of_rank = made[static_cast<std::size_t>(lane)].emplace_back(static_cast<std::size_t>(ranks()));
      for (const std::vector<int>& members : groups) {
        const auto group = std::make_shared<Group>(*this, members, lane, parting.name);
        for (int rank = 0; rank < group->size(); ++rank)
          of_rank[static_cast<std::size_t>(group->member(rank))] = {group, rank};
      }
    }
  }
  return made;
}

Outcome Simulation::run(const RankBody& body) {
  outcome_.results.resize(static_cast<std::size_t>(ranks()));
  start_ranks(body);
  start_watchdog();
  start_events();
  start_background();
  sg::Engine::on_deadlock_cb([this] {
    if (!failing()) failure_ = remembered_ ? remembered_ : stuck();
  });
  sg::Engine::get_instance()->run();
  if (failure_) std::rethrow_exception(failure_);
  for (int rank = 0; rank < ranks(); ++rank) {
    if (dead(rank)) {
      throw BackendError("the host of rank " + std::to_string(rank) + " failed at " +
                         seconds_text(dead_since_[static_cast<std::size_t>(rank)]) +
                         " (simulated), before the rank had ended; its peers did not need it any more");
    }
  }
  if (ended_ < ranks()) std::rethrow_exception(stuck());
  outcome_.facts = facts().dump();
  return std::move(outcome_);
}

void Simulation::start_ranks(const RankBody& body) {
  for (int rank = 0; rank < ranks(); ++rank) {
    sg::Actor::create("rank", platform_.hosts[static_cast<std::size_t>(rank)],
                      [this, rank, &body] { run_rank(rank, body); });
  }
}

void Simulation::run_rank(int rank, const RankBody& body) {
  std::exception_ptr error;
  try {
    outcome_.results[static_cast<std::size_t>(rank)] = body(*runtimes_[static_cast<std::size_t>(rank)]);
    blocking([] {});  // a rank that was killed in a destructor ends here at the latest
    outcome_.seconds = std::max(outcome_.seconds, now());
    ++ended_;
  } catch (const simgrid::ForcefulKillException&) {
    if (!failing()) bury(rank);
    throw;
  } catch (...) {
    error = std::current_exception();
  }
  if (error) fail(error);
}

void Simulation::fail(std::exception_ptr error) {
  if (failing()) return;
  failure_ = remembered_ ? remembered_ : error;
  sg::Actor::kill_all();
}

void Simulation::remember(std::exception_ptr error) {
  if (!remembered_) remembered_ = error;
}

void Simulation::forget(const std::exception_ptr& error) {
  if (remembered_ == error) remembered_ = nullptr;
}

void Simulation::bury(int rank) {
  any_dead_ = true;
  double& since = dead_since_[static_cast<std::size_t>(rank)];
  since = std::min(since, now());
}

void Simulation::throw_if_dead(int rank, int peer) const {
  if (!dead(peer)) return;
  throw BackendError(lost(rank, peer,
                          "the host of rank " + std::to_string(peer) + " failed at " +
                              seconds_text(dead_since_[static_cast<std::size_t>(peer)])));
}

void Simulation::require_askers_alive(int rank) const {
  for (int peer = 0; any_dead_ && peer < ranks(); ++peer) {
    if (!left_[static_cast<std::size_t>(peer)]) throw_if_dead(rank, peer);
  }
}

void Simulation::leave(int rank) {
  left_[static_cast<std::size_t>(rank)] = true;
  if (++left_count_ < ranks()) return;
  for (const auto& one : runtimes_) one->sim_requests().close();
}

std::string Simulation::lost(int rank, int peer, const std::string& why) const {
  return "rank " + std::to_string(rank) + " lost rank " + std::to_string(peer) + " at " + seconds_text(now()) +
         " (simulated): " + why;
}

std::int64_t Simulation::agree(int rank, std::int64_t value, ReduceOp op) {
  if (any_dead_) {
    for (int peer = 0; peer < ranks(); ++peer) require_alive(rank, peer);
  }
  if (agreed_ranks_ == 0) {
    agreeing_ = value;
  } else if (op == ReduceOp::min) {
    agreeing_ = std::min(agreeing_, value);
  } else if (op == ReduceOp::max) {
    agreeing_ = std::max(agreeing_, value);
  } else {
    agreeing_ += value;
  }
  if (++agreed_ranks_ == ranks()) {
    agreed_ranks_ = 0;
    agreed_ = op == ReduceOp::mean ? agreeing_ / ranks() : agreeing_;
  }
  const Blocked blocked(*this, station(rank, 0), "agree", *everybody_);
  blocking([&] { agreement_->wait(); });
  return agreed_;
}

void Simulation::meet(int rank) {
  while (turns_.size() < static_cast<std::size_t>(ranks())) turns_.push_back(sg::Semaphore::create(0));
  agree(rank, 0, ReduceOp::sum);
  const auto next = static_cast<std::size_t>(rank) + 1;
  blocking([&] {
    if (rank > 0) turns_[next - 1]->acquire();
    if (next < turns_.size()) turns_[next]->release();
  });
}

void Simulation::collect(int rank, std::int64_t key, std::vector<std::byte> part,
                         const std::function<void(RankRuntime::Parts)>& complete) {
  Collection& collection = collections_[key];
  collection.parts.resize(static_cast<std::size_t>(ranks()));
  collection.parts[static_cast<std::size_t>(rank)] = std::move(part);
  if (++collection.handed_in < ranks()) return;
  RankRuntime::Parts parts = std::move(collection.parts);
  collections_.erase(key);
  complete(std::move(parts));
}

nlohmann::json Simulation::facts() const {
  nlohmann::json facts;
  facts["fidelity"] = cluster_.fluid ? "fluid" : "exact";
  facts["fluid_collectives"] = nlohmann::json::array();
  facts["exact_collectives"] = nlohmann::json::array();
  for (std::size_t i = 0; i < exact_.size(); ++i) {
    if (fluid_[i]) facts["fluid_collectives"].push_back(name_of(static_cast<Collective>(i)));
    if (exact_[i]) facts["exact_collectives"].push_back(name_of(static_cast<Collective>(i)));
  }
  facts["busiest_nic"] = busiest_nic();
  facts["simgrid"] = std::to_string(SIMGRID_VERSION_MAJOR) + "." + std::to_string(SIMGRID_VERSION_MINOR);
  std::vector<std::string> warnings = cluster_.warnings(ranks());
  warnings.insert(warnings.end(), platform_.warnings.begin(), platform_.warnings.end());
  if (const std::string idle = idle_rails(); !idle.empty()) warnings.push_back(idle);
  facts["warnings"] = warnings;
  return facts;
}

std::string Simulation::idle_rails() const {
  if (!cluster_.nic_per_gpu || !cluster_.platform.empty()) return {};
  std::vector<int> used(sent_.size(), 0), rails(sent_.size(), 0);
  for (std::size_t nic = 0; nic < sent_.size(); ++nic) {
    const auto node = static_cast<std::size_t>(platform_.node_of_rank[nic]);
    ++rails[node];
    used[node] += sent_[nic] > 0 ? 1 : 0;
  }
  const auto busiest = static_cast<std::size_t>(std::max_element(used.begin(), used.end()) - used.begin());
  if (used[busiest] == 0 || used[busiest] >= rails[busiest]) return {};
  return "at most " + std::to_string(used[busiest]) + " of the " + std::to_string(rails[busiest]) +
         " NICs of a node sent to other nodes (nic=gpu); a run with --hierarchy all_nics uses them all";
}

nlohmann::json Simulation::busiest_nic() const {
  std::size_t busiest = 0;
  const auto load = [&](std::size_t nic) { return std::max(sent_[nic], received_[nic]); };
  for (std::size_t nic = 1; nic < sent_.size(); ++nic) {
    if (load(nic) > load(busiest)) busiest = nic;
  }
  nlohmann::json facts{
      {"bytes_sent", sent_[busiest]}, {"bytes_received", received_[busiest]}, {"bytes", load(busiest)}};
  if (cluster_.nic_per_gpu && cluster_.platform.empty()) facts["rank"] = busiest;
  facts["node"] = cluster_.nic_per_gpu ? platform_.node_of_rank[busiest] : static_cast<int>(busiest);
  return facts;
}

}  // namespace trigram::sim
