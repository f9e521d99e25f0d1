#include "experiments/settings/backend_choice.hpp"

#include <utility>

#include "core/registry/backend_traits.hpp"
#include "core/values/located.hpp"
#include "core/values/quoted.hpp"
#include "experiments/settings/cluster.hpp"

namespace trigram {

PlaceFlags::PlaceFlags(Params& flags) {
  constexpr int most_ranks = 1 << 20;
  backend = flags.get("backend", "sim", "where ranks run, as sim or mpi:timeout=60s (trigram list backends)");
  cluster = flags.get("cluster", "two_by_four",
                      "NAME or FILE, with :key=value,... in place of its own (trigram list clusters)");
  // Real backends have no cluster to describe; naming one for them is an error, the default is not.
  if (!flags.has("cluster") && !BackendTraits::of(Spec::parse(backend).name).takes_cluster) cluster.clear();
  for (const BackendFlag& flag : backend_flags()) {
    const std::string value =
        flags.get(flag.name, "", flag.description + "; empty: the backend's or the cluster's own");
    if (!value.empty()) parameters[flag.parameter] = value;
  }
  ranks = flags.get("ranks", 0, "number of ranks; 0: as many as the cluster has", {0, most_ranks});
}

BackendChoice::BackendChoice(const std::string& owner, PlaceFlags given) : flags(std::move(given)) {
  const Spec spec = Spec::parse(flags.backend);
  backend = spec.name;
  Backends::describe(backend);  // a backend that nobody knows comes before a cluster that nobody knows
  const Params whole =
      flags.cluster.empty() ? Params("backend " + in_quotes(flags.backend), "") : read_cluster(flags.cluster);
  parameters = Params(whole.owner(), "");
  for (const auto& [key, value] : whole.values()) {
    if (key != ErrorBars::key) parameters.set(key, value);
  }
  if (whole.has(ErrorBars::key))
    error_bars = located(whole.owner() + ": " + ErrorBars::key + ": ",
                         [&] { return ErrorBars(whole.values().at(ErrorBars::key)); });
  const Params named(owner + ": " + name_of_owner(Backend::registry_kind, spec.name), spec.parameters);
  for (const auto& [key, value] : named.values()) parameters.set(key, value);
  for (const auto& [key, value] : flags.parameters) parameters.set(key, value);
}

std::unique_ptr<Backend> BackendChoice::make() const {
  Params own = parameters;
  return Backends::make(backend, own);
}

}  // namespace trigram
