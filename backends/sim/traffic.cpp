#include "backends/sim/traffic.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace trigram::sim {

Traffic::Traffic(const Cluster& cluster, const Platform& platform)
    : cluster_(cluster), platform_(platform), sent_(static_cast<std::size_t>(platform.nics())), received_(sent_) {}

void Traffic::add_to(nlohmann::json& facts) const {
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
}

std::string Traffic::idle_rails() const {
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

nlohmann::json Traffic::busiest_nic() const {
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
