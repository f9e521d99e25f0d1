#include "experiments/measure/alpha_beta.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/error.hpp"

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

namespace {

double sum_of_squares(const AlphaBeta& line, std::span<const TimedAmount> points) {
  double sum = 0;
  for (const TimedAmount& point : points) sum += line.residual(point) * line.residual(point);
  return sum;
}

/// Least squares of relative residuals with a step before point `first`.
AlphaBeta fit_step(std::span<const TimedAmount> points, std::size_t first) {
  const auto rows = static_cast<Eigen::Index>(points.size());
  Eigen::MatrixX3d terms(rows, 3);
  for (Eigen::Index i = 0; i < rows; ++i) {
    const TimedAmount& point = points[static_cast<std::size_t>(i)];
    terms.row(i) << 1, point.amount, (static_cast<std::size_t>(i) < first ? 0 : 1);
    terms.row(i) /= point.seconds;
  }
  const Eigen::Vector3d found = terms.colPivHouseholderQr().solve(Eigen::VectorXd::Ones(rows));
  return {found[0], found[1], found[2], std::sqrt(points[first - 1].amount * points[first].amount)};
}

}  // namespace

AlphaBeta fit_stepped(std::span<const TimedAmount> points) {
  constexpr double close = 0.02;
  constexpr double left_over = 0.25;
  const AlphaBeta plain = fit_alpha_beta(points);
  const bool straight = std::all_of(points.begin(), points.end(),
                                    [&](const TimedAmount& point) { return std::abs(plain.residual(point)) < close; });
  AlphaBeta best = plain;
  for (std::size_t first = 2; !straight && first + 2 <= points.size(); ++first) {
    const AlphaBeta line = fit_step(points, first);
    const bool possible = line.alpha >= 0 && line.beta > 0 && line.step > 0;
    if (possible && sum_of_squares(line, points) < sum_of_squares(best, points)) best = line;
  }
  return sum_of_squares(best, points) < left_over * sum_of_squares(plain, points) ? best : plain;
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
