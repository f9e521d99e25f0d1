// --uncertainty: predictions over the ranges of what is not known exactly.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "experiments/fit/spread.hpp"
#include "experiments/settings/error_bars.hpp"

namespace trigram {

/// How many draws, and from what seed.
struct UncertaintyFlags {
  /// Declares and reads uncertainty and uncertainty-seed.
  explicit UncertaintyFlags(Params& flags);

  int draws = 0;  ///< 0: none
  std::uint64_t seed = 1;
};

/// One prediction over all draws.
struct UncertainTime {
  Spread seconds;
  std::vector<std::pair<std::string, double>> shares;  ///< of the variance by parameter, the largest first
  std::size_t ranges = 0;                              ///< that were drawn from
  bool measured = true;                                ///< whether the cluster's calibration says how far off it is
};

/// What is asked for: a training iteration, or an operation of `trigram bench` on a buffer of `size`.
struct UncertainQuestion {
  std::string op, size;
};

/// Each question on a run's flags, simulated fluidly: draws of all ranges, of systems and of clusters, and of how far
/// off the model itself is by the cluster's calibration, or, where it has none, by the largest error that was seen.
std::vector<UncertainTime> uncertain_times(const Settings& given, const std::vector<UncertainQuestion>& questions,
                                           const UncertaintyFlags& flags, const ErrorBars& bars);

/// As lines below a run's summary, beside what arithmetic says (NaN: nothing).
std::string uncertainty_lines(const UncertainTime& time, const UncertaintyFlags& flags, const std::string& cluster,
                              double arithmetic);

/// The same for run.json.
nlohmann::json uncertainty_facts(const UncertainTime& time, const UncertaintyFlags& flags, double arithmetic);

}  // namespace trigram
