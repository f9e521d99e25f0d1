// Where a method takes the mean of weights over ranks, against where known gradients take it. Each function gives what
// does not hold, as a sentence; empty where it does.
#pragma once

#include <span>
#include <string>

#include "core/conformance/trial.hpp"

namespace trigram {

/// "0.125", for error messages.
std::string short_text(double value);

/// Steps that so many ranks have trained.
struct Stretch {
  std::int64_t steps = 0;
  int ranks = 1;
};

/// How far the mean of weights after these stretches, one behind the other, is from `share` of where mean gradients
/// take it, as a share of the longest way.
double off_mean_path(const Training& training, std::span<const Stretch> stretches, double share);

/// What rounding leaves of that.
inline constexpr double mean_path_rounding = 1e-5;
/// What error feedback may leave of what the mean was off by, after so many steps without gradients for each with:
/// sparse codecs send a fifteenth in each.
inline constexpr double settled_share = 0.25;
inline constexpr std::int64_t settling_steps = 6;

/// After so many steps the mean is `share` off the path, where `promised` is the most.
std::string beyond_mean_error(std::int64_t steps, double share, double promised);
/// After so many steps with gradients the mean is `share` off, and `later` after settling_steps times as many without.
std::string unsettled(std::int64_t steps, double share, double later);

/// After this training the mean is further from following the mean gradient than `mean_error` allows.
std::string wrong_mean(const Trial& trial, const TrialRun& run, const Training& training);

/// Where gradients are the same in each step and on each rank, the mean ends on their side. Trains once, but not where
/// `mean_error` leaves no room for it.
std::string wrong_direction(const Trial& trial, std::int64_t steps);

/// What the mean was off by after `training`, which is of so many steps with gradients, is not made up for in six
/// times as many steps without. Trains once, and only where `settles` is declared.
std::string wrong_settling(const Trial& trial, const Training& training, std::int64_t steps);

}  // namespace trigram
