// What a fit found, in words.
#pragma once

#include <string>

#include "experiments/fit/fit.hpp"

namespace trigram {

/// "4.1MB, with 95 % between 3.8MB and 4.5MB", or that nothing is known of it.
std::string words_of(const FitParameter& parameter, double place, const Interval& interval);

/// "nic_bandwidth and nic_efficiency cannot be told apart: nic_bandwidth up 10 % with nic_efficiency down 9.1 % changes
/// no row by more than 0.02 %".
std::string words_of(const FitProblem& problem, const Fit& found, const BlindDirection& blind);

/// "4.1 %".
std::string percent_text(double ratio);

}  // namespace trigram
