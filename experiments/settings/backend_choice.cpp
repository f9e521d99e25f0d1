#include "experiments/settings/backend_choice.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "core/quoted.hpp"
#include "experiments/settings/cluster.hpp"

namespace trigram {

bool models_clusters(const std::string& backend) {
  const auto parameters = Backends::parameters(Spec::parse(backend).name);
  return std::any_of(parameters.begin(), parameters.end(), [](const Params::Declared& p) { return p.key == "nodes"; });
}

BackendChoice::BackendChoice(Params& flags) {
  constexpr int most_ranks = 1 << 20;
  backend = flags.get("backend", "sim", "where ranks run, as sim or mpi:timeout=60s (trigram list backends)");
  cluster_text = flags.get("cluster", "two_by_four",
                           "NAME or FILE, with :key=value,... in place of its own (trigram list clusters)");
  // Real backends have no cluster to describe; naming one for them is an error, the default is not.
  if (!flags.has("cluster") && !models_clusters(backend)) cluster_text.clear();
  const int per_node =
      flags.get("ranks-per-node", 0, "ranks of a node; 0: as many as the cluster's nodes have", {0, most_ranks});
  const std::string fidelity =
      flags.get("fidelity", "", "how a simulation counts messages: exact or fluid; empty: the cluster's own");
  const std::string rendezvous = flags.get(
      "rendezvous", "", "where launched ranks with GPUs meet: file:PATH, tcp:HOST:PORT or mpi; empty: as launched");
  ranks = flags.get("ranks", 0, "number of ranks; 0: as many as the cluster has", {0, most_ranks});
  cluster = cluster_text.empty() ? Params("backend " + in_quotes(backend), "") : read_cluster(cluster_text);
  const Params of_backend(flags.owner(), Spec::parse(backend).parameters);
  for (const auto& [key, value] : of_backend.values()) cluster.set(key, value);
  if (per_node != 0) cluster.set("ranks_per_node", std::to_string(per_node));
  if (!fidelity.empty()) cluster.set("fidelity", fidelity);
  if (!rendezvous.empty()) cluster.set("rendezvous", rendezvous);
}

std::unique_ptr<Backend> BackendChoice::make() const {
  Params parameters = cluster;
  return Backends::make(Spec::parse(backend).name, parameters);
}

}  // namespace trigram
