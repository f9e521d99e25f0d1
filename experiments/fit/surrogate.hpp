// What simulations at a few points of a row say of all others.
#pragma once

#include <vector>

#include "experiments/fit/draws.hpp"

namespace trigram {

/// A run of a row with its uncertain parameters somewhere in their ranges.
struct Sample {
  std::vector<double> place;  ///< along each swept key; places beside each other are 1 apart
  Point moves;                ///< of each parameter how far it is from the value that is written, from -1 to 1
};

/// The logarithm of a time over the time at the values that are written: 0 where nothing is moved, a sum over
/// parameters, each of which is nearly a straight line on either side of where it is not moved, and alike at places
/// beside each other. A Gaussian process with such a covariance, which says too how far off it may be (Rasmussen &
/// Williams 2006, chapter 2; left one out, 5.4.2).
class Surrogate {
 public:
  /// Of the logarithms of simulated times; of no samples it is 0 everywhere.
  Surrogate(std::vector<Sample> samples, const std::vector<double>& logs);

  double at(const Sample& sample) const;
  /// One standard deviation of how far off `at` is. Its scale is that of the samples, each told by all others.
  double deviation(const Sample& sample) const;
  /// How far off each sample is told by all others.
  const std::vector<double>& left_out() const { return left_out_; }

 private:
  std::vector<double> covariances(const Sample& sample) const;

  std::vector<Sample> samples_;
  std::vector<double> inverse_;  ///< of their covariances, but for their scale; column by column
  std::vector<double> weights_;
  double scale_ = 0;  ///< a variance
  std::vector<double> left_out_;
};

}  // namespace trigram
