// Predicted times over ranges of many runs that have been made, from a few short simulations of each.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "experiments/fit/uncertain_times.hpp"

namespace trigram {

/// A run that was made, of which more is asked, or an operation on a buffer.
struct MadeRun {
  UncertainQuestion question;
  std::string row;            ///< runs of a row, which stand beside each other, tell of each other
  std::vector<double> place;  ///< in its row, along each swept key; places beside each other are 1 apart
  double seconds = 0;         ///< of an iteration
  double error = std::numeric_limits<double>::quiet_NaN();  ///< a share, by the cluster's calibration; NaN: none
  std::int64_t steps = 1;                                   ///< so many of its first steps stand for all
  double seconds_of_steps = 0;                              ///< of each of these
  int simulations = 1;                                      ///< of so many steps; none where it states no range
};

/// What they come to.
struct InterpolatedTimes {
  std::vector<UncertainTime> times;
  double off = 0;  ///< how far off a simulation is told by the others, a share: root of the mean square
  std::size_t simulations = 0;
};

/// All runs at the same draws: what files state is drawn at a few points of each run, others at each, what lies between
/// is told by a Surrogate of each row, and how far off that may be is added to the model's own error. Throws what a
/// simulation throws, and MissingPredictions.
InterpolatedTimes interpolated_times(const std::vector<MadeRun>& runs, const Draws& draws);

}  // namespace trigram
