// How probable it is that one prediction is less than others, all of which may be off.
#pragma once

#include <vector>

namespace trigram {

/// A predicted value above 0 and how far off it may be: the logarithm of the true one is normal around its own, with
/// ln(1 + error) as its deviation, independent of all others'.
struct WithErrorBar {
  double value = 0;
  double error = 0;
};

/// From this probability on an order of two is called.
inline constexpr double called = 0.9;

/// The probability that `one` is less than `other`; a half where they are equal and nothing is off.
double chance_of_less(const WithErrorBar& one, const WithErrorBar& other);

/// Of each the probability that it is the least of all, which add up to 1: the mean over so many quantiles of its own
/// error that all others are more.
std::vector<double> chances_of_least(const std::vector<WithErrorBar>& all, int quantiles = 256);

}  // namespace trigram
