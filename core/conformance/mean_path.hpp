// Where a method takes the mean of weights over ranks, against where known gradients take it. Each function gives what
// does not hold, as a sentence; empty where it does.
#pragma once

#include <string>

#include "core/conformance/trial.hpp"

namespace trigram {

/// "0.125", for error messages.
std::string short_text(double value);

/// After this training the mean is further from following the mean gradient than `mean_error` allows.
std::string wrong_mean(const Trial& trial, const TrialRun& run, const Training& training);

/// Where gradients are the same in each step and on each rank, the mean ends on their side. Trains once, but not where
/// `mean_error` leaves no room for it.
std::string wrong_direction(const Trial& trial, std::int64_t steps);

/// What the mean was off by after `training`, which is of so many steps with gradients, is not made up for in six
/// times as many steps without. Trains once, and only where `settles` is declared.
std::string wrong_settling(const Trial& trial, const Training& training, std::int64_t steps);

}  // namespace trigram
