// What draws say together: a median, ranges, and which parameter makes them wide.
#pragma once

#include <vector>

#include "experiments/fit/draws.hpp"

namespace trigram {

/// A central range.
struct CentralRange {
  double least = 0, most = 0;

  bool contains(double value) const { return value >= least && value <= most; }
};

/// Of the values of some draws.
struct Spread {
  double median = 0;
  CentralRange of_68, of_95;  ///< in which 68 and 95 % of them lie, as many below as above
};

/// The spread of values so many times as large.
Spread times(Spread spread, double factor);

/// Quantiles between the two nearest values. Of no values NaN.
Spread spread_of(std::vector<double> values);

/// First-order indices (Sobol 2001): the share of the variance of `values` that a parameter makes by itself, by the
/// coordinates of the points that they were drawn at. From the same draws by polynomial chaos (Sudret 2008): the
/// squares of the least-squares coefficients of orthonormal polynomials of each coordinate, of degrees 1 and 2 where
/// there are three draws a coefficient, else 1. Zero where nothing varies.
std::vector<double> first_order_indices(const std::vector<Point>& points, const std::vector<double>& values);

/// The quantile u of a factor whose logarithm is normal, with ln(1 + error) as its deviation.
double factor_of_error(double error, double u);

}  // namespace trigram
