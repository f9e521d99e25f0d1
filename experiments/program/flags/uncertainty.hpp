// --uncertainty: predictions over the ranges of what is not known exactly.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "experiments/fit/uncertain_times.hpp"

namespace trigram {

/// How many draws, and from what seed.
struct UncertaintyFlags {
  /// Declares and reads uncertainty and uncertainty-seed. `meaning` is what help says of the first.
  explicit UncertaintyFlags(Params& flags, int draws_by_default = 0,
                            const char* meaning =
                                "draws from the ranges that files of clusters and systems state (25us in 15us..60us), "
                                "to give a median and ranges that hold; 0: none");

  int draws = 0;  ///< 0: none
  std::uint64_t seed = 1;
  bool given = false;  ///< --uncertainty, which asks for whole simulations

  /// With so many simulations at a time.
  Draws with(int jobs) const { return from({jobs}); }
  Draws from(PredictionSource source) const { return {draws, seed, std::move(source)}; }
};

/// As lines below a run's summary, beside what arithmetic says (NaN: nothing).
std::string uncertainty_lines(const UncertainTime& time, const UncertaintyFlags& flags, const std::string& cluster,
                              double arithmetic);

/// The same for run.json.
nlohmann::json uncertainty_facts(const UncertainTime& time, const UncertaintyFlags& flags, double arithmetic);

/// A line where the cluster's calibration does not say how far off the model is; else empty.
std::string model_line(const UncertainTime& time);

/// "62 %".
std::string share_in_percent(double share);

/// "a 62 %, b 38 %": the most probable first, without those that hardly can be.
std::string chances_text(const std::vector<std::pair<std::string, double>>& chances);

/// "decided by connections (61 %), …" and what to measure first by which command, two lines; empty where nothing
/// varies.
std::string decided_by(const std::vector<std::pair<std::string, double>>& shares, const std::string& cluster);

}  // namespace trigram
