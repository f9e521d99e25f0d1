// Counts, agrees and collects for all ranks, and knows the first failure.
#include "backends/sim/simulation.hpp"

#include <simgrid/version.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "backends/sim/engine/blocking.hpp"
#include "core/values/error.hpp"

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
      network_(cluster, platform_),
      map_(std::make_shared<RankMap>(world.axes(), platform_.node_of_rank)),
      agreement_(world.ranks) {
  const auto n = static_cast<std::size_t>(world.ranks);
  for (std::size_t rank = 0; rank < n; ++rank) gpus_.emplace_back(platform_.hosts[rank], cluster.compute_slowdown > 1);
  stations_.resize(n * static_cast<std::size_t>(lanes()));
  works_.resize(stations_.size());
  left_.resize(n);
  ended_.resize(n);
  dead_since_.assign(n, std::numeric_limits<double>::infinity());
  sent_.assign(static_cast<std::size_t>(platform_.nics()), 0);
  received_ = sent_;
  watch_wanted_ = sg::Semaphore::create(0);
}

Simulation::~Simulation() = default;

void Simulation::watch_over(std::vector<RankRuntime*> ranks, std::shared_ptr<const Group> everybody) {
  runtimes_ = std::move(ranks);
  everybody_ = std::move(everybody);
  start_watchdog();
  start_events();
  start_background();
  sg::Engine::on_deadlock_cb([this] {
    if (!failing()) failure_ = remembered_ ? remembered_ : deadlock();
  });
}

void Simulation::require_success(bool all_ended) const {
  if (failure_) std::rethrow_exception(failure_);
  for (int rank = 0; rank < ranks(); ++rank) {
    if (dead(rank)) {
      throw BackendError("the host of rank " + std::to_string(rank) + " failed at " +
                         seconds_text(dead_since_[static_cast<std::size_t>(rank)]) +
                         " (simulated), before the rank had ended; its peers did not need it any more");
    }
  }
  if (!all_ended) std::rethrow_exception(deadlock());
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
  ++left_count_;
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
  const Standstill::Rest rest(standstill_);
  blocking([&] { agreement_.wait(); });
  return agreed_;
}

void Simulation::meet(int rank) {
  while (turns_.size() < static_cast<std::size_t>(ranks())) turns_.push_back(sg::Semaphore::create(0));
  agree(rank, 0, ReduceOp::sum);
  const auto next = static_cast<std::size_t>(rank) + 1;
  blocking([&] {
    const Standstill::Rest rest(standstill_);
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

std::string Simulation::facts() const {
  nlohmann::json facts;
  facts["fidelity"] = cluster_.fluid ? "fluid" : "exact";
  facts["fluid_collectives"] = nlohmann::json::array();
  facts["exact_collectives"] = nlohmann::json::array();
  for (std::size_t i = 0; i < exact_.size(); ++i) {
    if (fluid_[i]) facts["fluid_collectives"].push_back(name_of(static_cast<Collective>(i)));
    if (exact_[i]) facts["exact_collectives"].push_back(name_of(static_cast<Collective>(i)));
  }
  facts["chosen"] = nlohmann::json::array();
  for (const auto& [where, choice] : choices_)
    facts["chosen"].push_back({{"collective", name_of(where.collective)},
                               {"ranks", where.ranks},
                               {"nodes", where.nodes},
                               {"bytes", where.bytes},
                               {"choice", choice}});
  facts["busiest_nic"] = busiest_nic();
  facts["expenses"] = nlohmann::json::object();
  for (const auto& [name, of] : cluster_.expenses)
    facts["expenses"][name] = {{"busy_gpu_s", of.busy_gpu_s}, {"idle_gpu_s", of.idle_gpu_s}, {"byte", of.byte}};
  facts["simgrid"] = std::to_string(SIMGRID_VERSION_MAJOR) + "." + std::to_string(SIMGRID_VERSION_MINOR);
  std::vector<std::string> warnings = cluster_.warnings(ranks());
  warnings.insert(warnings.end(), platform_.warnings.begin(), platform_.warnings.end());
  if (const std::string idle = idle_rails(); !idle.empty()) warnings.push_back(idle);
  facts["warnings"] = warnings;
  return facts.dump();
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
