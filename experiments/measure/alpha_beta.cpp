#include "experiments/measure/alpha_beta.hpp"

#include <algorithm>
#include <cmath>

#include "core/values/error.hpp"

namespace trigram {

// With u = 1/t and v = x/t, the sum of (alpha·u + beta·v − 1)² is least where
//   alpha·Σu² + beta·Σuv = Σu   and   alpha·Σuv + beta·Σv² = Σv.
AlphaBeta fit_alpha_beta(std::span<const TimedAmount> points) {
  double u1 = 0, v1 = 0, uu = 0, uv = 0, vv = 0;
  for (const TimedAmount& point : points) {
    ensure(point.seconds > 0, "a measured time must be above 0");
    const double u = 1 / point.seconds;
    const double v = point.amount / point.seconds;
    u1 += u, v1 += v, uu += u * u, uv += u * v, vv += v * v;
  }
  const double determinant = uu * vv - uv * uv;
  constexpr double rounding = 1e-12;
  ensure(determinant > rounding * uu * vv, "a line needs measured times of two different amounts");
  const AlphaBeta line{.alpha = (u1 * vv - v1 * uv) / determinant, .beta = (uu * v1 - uv * u1) / determinant};
  return line.alpha >= 0 ? line : fit_beta(0, points);
}

// beta = Σ v·(1 − alpha·u) / Σ v².
AlphaBeta fit_beta(double alpha, std::span<const TimedAmount> points) {
  double sum = 0, vv = 0;
  for (const TimedAmount& point : points) {
    const double v = point.amount / point.seconds;
    sum += v * (1 - alpha / point.seconds);
    vv += v * v;
  }
  ensure(vv > 0, "a line needs the measured time of an amount above 0");
  return {.alpha = alpha, .beta = std::max(sum / vv, 0.0)};
}

}  // namespace trigram
