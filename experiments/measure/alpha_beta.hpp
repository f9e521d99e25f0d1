// The line through measured times: seconds = alpha + beta · amount.
#pragma once

#include <span>

namespace trigram {

/// What was moved or computed (bytes, flops), and the seconds that it took.
struct TimedAmount {
  double amount = 0;
  double seconds = 0;
};

/// seconds = alpha + beta · amount.
struct AlphaBeta {
  double alpha = 0;  ///< seconds
  double beta = 0;   ///< seconds a unit

  double seconds(double amount) const { return alpha + beta * amount; }
  /// How far the line is from a measured point: predicted / measured − 1.
  double residual(const TimedAmount& point) const { return seconds(point.amount) / point.seconds - 1; }
};

/// The line whose residuals have the least sum of squares: every size counts alike, however long it took. alpha is not
/// negative. Throws Error without two different amounts, or for a time that is not above 0.
AlphaBeta fit_alpha_beta(std::span<const TimedAmount> points);

/// The same with alpha given.
AlphaBeta fit_beta(double alpha, std::span<const TimedAmount> points);

}  // namespace trigram
