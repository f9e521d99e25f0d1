// Where ranks run: the flags that run, bench, calibrate and check share.
#pragma once

#include <memory>
#include <string>

#include "core/training/backend.hpp"
#include "experiments/settings/error_bars.hpp"
#include "experiments/settings/settings.hpp"

namespace trigram {

/// The flags as they were given; nothing is looked up.
struct PlaceFlags {
  /// Declares and reads backend, cluster, ranks, and what backends declare as flags. Throws UsageError for a value of
  /// the wrong type.
  explicit PlaceFlags(Params& flags);

  /// The cluster as it was named, or the backend where nobody names one.
  const std::string& where() const { return cluster.empty() ? backend : cluster; }

  std::string backend;  ///< "sim", "mpi:timeout=60s"
  std::string cluster;  ///< empty where the backend is a cluster of its own
  Settings parameters;  ///< of the backend, from flags
  int ranks = 0;        ///< 0: as many as the cluster has
};

/// A backend with its cluster.
struct BackendChoice {
  /// Throws UsageError for an unknown backend or cluster. `owner` is what messages about --backend name.
  BackendChoice(const std::string& owner, PlaceFlags given);

  /// Throws UsageError for parameters that the backend does not take.
  std::unique_ptr<Backend> make() const;
  /// The ranks that were asked for, or as many as the backend has.
  int ranks_on(const Backend& place) const { return flags.ranks > 0 ? flags.ranks : place.default_ranks(); }

  PlaceFlags flags;
  std::string backend;   ///< its name alone
  Params parameters;     ///< everything that the backend is made from
  ErrorBars error_bars;  ///< of the cluster's calibration; none where it has none
};

}  // namespace trigram
