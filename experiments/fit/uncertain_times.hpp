// Predicted times over the ranges of what is not known exactly.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "experiments/fit/chances.hpp"
#include "experiments/fit/predictions/predictor.hpp"
#include "experiments/fit/spread.hpp"
#include "experiments/fit/uncertain_question.hpp"

namespace trigram {

/// How many points are drawn, from what seed, and where their predictions come from.
struct Draws {
  int count = 0;
  std::uint64_t seed = 1;
  PredictionSource source = {};
};

/// One prediction over all draws.
struct UncertainTime {
  Spread seconds;                                      ///< the model's own error among what was drawn
  std::vector<std::pair<std::string, double>> shares;  ///< of the variance by parameter, the largest first
  std::size_t ranges = 0;                              ///< that were drawn from
  bool measured = true;                                ///< whether the cluster's calibration says how far off it is
  std::vector<WithErrorBar> draws;                     ///< each as simulated, with the model's own error
};

/// Of draws at these points, whose last coordinate is of the model's own error.
UncertainTime over_draws(const Asked& asked, const std::vector<Point>& points, std::vector<WithErrorBar> draws);

/// The same with all seconds so many times as many.
UncertainTime times(UncertainTime time, double factor);

/// What shares call the error of the model.
inline constexpr const char* the_model = "the model itself";

/// The largest root of the mean square of errors over the rows of one published source on which no value was found:
/// NCCL on p4d, of the twelve of study agreement. It stands where a cluster's calibration says nothing.
inline constexpr double error_without_measurements = 0.38;

/// Each question, simulated fluidly at the same points: a parameter that several of them have a range for is at the
/// same quantile in all. Drawn are all ranges, of systems and of clusters, and how far off the model itself is by the
/// cluster's calibration, or, where it has none, by `error_without_measurements`. Throws what a simulation throws, and
/// MissingPredictions.
std::vector<UncertainTime> uncertain_times(const std::vector<UncertainQuestion>& questions, const Draws& draws);

/// One question at the values that files state, simulated fluidly.
Predicted predicted_as_written(const UncertainQuestion& question);

/// The probability that each of these, of the same draws, is the least: in each draw by the model's own error, which is
/// another one for each, and the mean over draws.
std::vector<double> chances_of_least(const std::vector<const UncertainTime*>& times);
/// The same of one and another.
double chance_of_less(const UncertainTime& one, const UncertainTime& other);

}  // namespace trigram
