// Where ranks run: the flags that run, bench and calibrate share.
#pragma once

#include <memory>
#include <string>

#include "core/backend.hpp"

namespace trigram {

/// A backend with its cluster, from the flags backend, cluster, ranks-per-node, fidelity, rendezvous and ranks.
struct BackendChoice {
  /// Declares and reads the flags. Throws UsageError for a value of the wrong type and an unknown cluster.
  explicit BackendChoice(Params& flags);

  /// Throws UsageError for parameters that the backend does not take.
  std::unique_ptr<Backend> make() const;
  /// `ranks`, or as many as the backend has.
  int ranks_on(const Backend& place) const { return ranks > 0 ? ranks : place.default_ranks(); }
  /// The cluster as it was named, or the backend where nobody names one.
  const std::string& where() const { return cluster_text.empty() ? backend : cluster_text; }

  std::string backend;       ///< "sim", "mpi:timeout=60s"
  std::string cluster_text;  ///< empty where the backend is a cluster of its own
  Params cluster;            ///< everything that the backend is made from
  int ranks = 0;             ///< 0: as many as the cluster has
};

/// Whether that backend models a cluster that somebody must describe.
bool models_clusters(const std::string& backend);

}  // namespace trigram
