#include "backends/sim/simulation.hpp"

#include <simgrid/version.h>

#include <nlohmann/json.hpp>

namespace trigram::sim {

Simulation::Simulation(const Cluster& cluster, const World& world)
    : cluster_(cluster),
      world_(world),
      layout_(world.layout()),
      platform_(cluster, world.ranks),
      network_(cluster, platform_),
      map_(std::make_shared<RankMap>(world.axes(), platform_.node_of_rank)),
      works_(static_cast<std::size_t>(world.ranks * layout_.lanes())),
      traffic_(cluster, platform_),
      losses_(world),
      failures_(world.ranks, losses_),
      watch_(cluster, layout_, world.ranks, failures_),
      all_ranks_(world.ranks, losses_, failures_, watch_),
      disturbances_(cluster, platform_, layout_.lanes(), failures_, watch_) {
  for (int rank = 0; rank < world.ranks; ++rank)
    gpus_.emplace_back(platform_.hosts[static_cast<std::size_t>(rank)], cluster.compute_slowdown > 1);
}

void Simulation::start(std::vector<RankRuntime*> ranks, std::shared_ptr<const Members> everybody) {
  all_ranks_.form(std::move(everybody));
  watch_.start(std::move(ranks), platform_.service);
  disturbances_.start();
}

void Simulation::require_success(bool all_ended) const {
  failures_.require_none();
  if (!all_ended) std::rethrow_exception(watch_.deadlock());
}

std::string Simulation::facts() const {
  nlohmann::json facts;
  facts["fidelity"] = cluster_.fluid ? "fluid" : "exact";
  traffic_.add_to(facts);
  facts["expenses"] = nlohmann::json::object();
  for (const auto& [name, of] : cluster_.expenses)
    facts["expenses"][name] = {{"busy_gpu_s", of.busy_gpu_s}, {"idle_gpu_s", of.idle_gpu_s}, {"byte", of.byte}};
  facts["simgrid"] = std::to_string(SIMGRID_VERSION_MAJOR) + "." + std::to_string(SIMGRID_VERSION_MINOR);
  std::vector<std::string> warnings = cluster_.warnings(ranks());
  warnings.insert(warnings.end(), platform_.warnings.begin(), platform_.warnings.end());
  for (const std::string& continued : cluster_.codec_rates.warnings()) warnings.push_back(continued);
  if (const std::string idle = traffic_.idle_rails(); !idle.empty()) warnings.push_back(idle);
  facts["warnings"] = warnings;
  return facts.dump();
}

}  // namespace trigram::sim
