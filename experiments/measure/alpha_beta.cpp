#include "experiments/measure/alpha_beta.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <vector>

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

namespace {

double sum_of_squares(const AlphaBeta& line, std::span<const TimedAmount> points) {
  double sum = 0;
  for (const TimedAmount& point : points) sum += line.residual(point) * line.residual(point);
  return sum;
}

/// Another line is better where it leaves less than this share.
constexpr double left_over = 0.25;

/// From one window that is tried to the next.
constexpr double finer = 1.005;

/// Least squares of relative residuals with that window, and a step before point `first`, which is none at the end and
/// after which there are so many connections.
AlphaBeta fit_terms(std::span<const TimedAmount> points, double window, std::size_t first, int connections = 1) {
  const auto rows = static_cast<Eigen::Index>(points.size());
  const bool steps = first < points.size();
  Eigen::MatrixXd terms(rows, steps ? 3 : 2);
  AlphaBeta line{.window = window, .connections = connections};
  if (steps) line.step_after = std::sqrt(points[first - 1].amount * points[first].amount);
  for (Eigen::Index i = 0; i < rows; ++i) {
    const TimedAmount& point = points[static_cast<std::size_t>(i)];
    terms(i, 0) = 1 + 2 * line.full(point.amount);
    terms(i, 1) = line.last(point.amount);
    if (steps) terms(i, 2) = static_cast<std::size_t>(i) < first ? 0 : 1;
    terms.row(i) /= point.seconds;
  }
  const Eigen::VectorXd found = terms.colPivHouseholderQr().solve(Eigen::VectorXd::Ones(rows));
  line.alpha = found[0];
  line.beta = found[1];
  if (!steps) return line;
  line.step = found[2];
  return line;
}

bool possible(const AlphaBeta& line) { return line.alpha >= 0 && line.beta > 0 && line.step >= 0; }

/// The best of `best` and the lines of that window with a step anywhere.
AlphaBeta better_step(std::span<const TimedAmount> points, double window, AlphaBeta best, int connections = 1) {
  for (std::size_t first = 2; first + 2 <= points.size(); ++first) {
    const AlphaBeta line = fit_terms(points, window, first, connections);
    if (possible(line) && sum_of_squares(line, points) < sum_of_squares(best, points)) best = line;
  }
  return best;
}

bool is_straight(const AlphaBeta& line, std::span<const TimedAmount> points) {
  constexpr double close = 0.02;
  return std::all_of(points.begin(), points.end(),
                     [&](const TimedAmount& point) { return std::abs(line.residual(point)) < close; });
}

/// What is simpler, unless the other leaves less than a share of what it leaves over.
AlphaBeta simpler(const AlphaBeta& simple, const AlphaBeta& other, std::span<const TimedAmount> points,
                  double share = left_over) {
  return sum_of_squares(other, points) < share * sum_of_squares(simple, points) ? other : simple;
}

/// The share of what n points leave over to which two parameters more bring it by chance in one of twenty cases, if
/// there are so many then: an F test, 5 % ^ (2 / (n − parameters)).
double by_chance(std::span<const TimedAmount> points, double parameters) {
  return std::pow(0.05, 2 / std::max(1.0, static_cast<double>(points.size()) - parameters));
}

/// Where a window is, an announcement takes a round trip beside it: a step of half of one or more is taken for that
/// where it would seldom come by chance.
AlphaBeta announced(const AlphaBeta& windowed, const AlphaBeta& stepped, std::span<const TimedAmount> points) {
  constexpr double parameters = 5;
  return simpler(windowed, stepped, points, stepped.step >= stepped.alpha ? by_chance(points, parameters) : left_over);
}

/// What is announced may be spread over several connections, where windows make anybody wait: they are smaller than
/// what is carried in a round trip. A line with a step has two parameters less.
AlphaBeta spread(const AlphaBeta& one, const AlphaBeta& several, std::span<const TimedAmount> points) {
  constexpr double parameters = 6;
  const bool waits = several.window * several.beta < 2 * several.alpha;
  return waits ? simpler(one, several, points, by_chance(points, parameters)) : one;
}

}  // namespace

AlphaBeta fit_stepped(std::span<const TimedAmount> points) {
  const AlphaBeta plain = fit_alpha_beta(points);
  if (is_straight(plain, points)) return plain;
  return simpler(plain, better_step(points, plain.window, plain), points);
}

AlphaBeta fit_following(AlphaBeta line, std::span<const TimedAmount> points) {
  line.follow = true;
  AlphaBeta best = line;
  for (line.window = points[1].amount / 2; line.window < points.back().amount; line.window *= finer) {
    if (sum_of_squares(line, points) < sum_of_squares(best, points)) best = line;
  }
  return best;
}

AlphaBeta fit_windowed(std::span<const TimedAmount> points) {
  constexpr std::size_t fewest = 5;
  const AlphaBeta open = fit_stepped(points);
  if (points.size() < fewest || is_straight(open, points)) return open;
  constexpr std::size_t fewest_to_spread = 8;
  const int most_connections = points.size() < fewest_to_spread ? 1 : 8;
  AlphaBeta best = open, stepped = open, several = open;
  for (double window = points[1].amount; window < points[points.size() - 2].amount; window *= finer) {
    const AlphaBeta line = fit_terms(points, window, points.size());
    if (possible(line) && sum_of_squares(line, points) < sum_of_squares(best, points)) best = line;
    stepped = better_step(points, window, stepped);
    for (int connections = 2; connections <= most_connections; ++connections)
      several = better_step(points, window, several, connections);
  }
  return spread(simpler(open, announced(best, stepped, points), points), several, points);
}

// In what both paths could carry meanwhile the line is straight.
AlphaBeta fit_chunked(AlphaBeta line, std::span<const TimedAmount> points) {
  const ChunkedPaths paths({1, line.slower}, line.chunk);
  std::vector<TimedAmount> carried;
  for (const TimedAmount& point : points) carried.push_back({paths.occupied(point.amount), point.seconds});
  const AlphaBeta straight = fit_alpha_beta(carried);
  return {.alpha = straight.alpha, .beta = straight.beta, .chunk = line.chunk, .slower = line.slower};
}

AlphaBeta fit_two_paths(const AlphaBeta& line, std::span<const TimedAmount> points) {
  constexpr double least_chunk = 4096, slowest = 0.02, from_one_to_the_next = 1.02;
  if (is_straight(line, points)) return line;
  AlphaBeta best = line;
  for (double chunk = least_chunk; 2 * chunk < points.back().amount; chunk *= 2) {
    for (double slower = 1; slower >= slowest; slower /= from_one_to_the_next) {
      const AlphaBeta paths = fit_chunked({.chunk = chunk, .slower = slower}, points);
      if (sum_of_squares(paths, points) < sum_of_squares(best, points)) best = paths;
    }
  }
  constexpr double parameters = 4;
  return simpler(line, best, points, std::min(left_over, by_chance(points, parameters)));
}

// Two pieces of which the second is steeper: alpha + at_once · x to a knee, and beta · (x − knee) more beyond.
AlphaBeta fit_burst(const AlphaBeta& line, std::span<const TimedAmount> points) {
  constexpr std::size_t below = 2, beyond = 4;
  constexpr double parameters = 4, finer_knee = 1.02, much_faster = 2;
  if (points.size() < below + beyond || is_straight(line, points)) return line;
  AlphaBeta best = line;
  for (double knee = points[below - 1].amount; knee < points[points.size() - beyond].amount; knee *= finer_knee) {
    Eigen::MatrixXd terms(static_cast<Eigen::Index>(points.size()), 3);
    for (Eigen::Index i = 0; i < terms.rows(); ++i) {
      const TimedAmount& point = points[static_cast<std::size_t>(i)];
      terms.row(i) << 1, std::min(point.amount, knee), std::max(0.0, point.amount - knee);
      terms.row(i) /= point.seconds;
    }
    const Eigen::VectorXd found = terms.colPivHouseholderQr().solve(Eigen::VectorXd::Ones(terms.rows()));
    AlphaBeta bursts{.alpha = found[0], .beta = found[2], .at_once = std::max(found[1], 0.0)};
    if (bursts.alpha < 0 || bursts.beta <= much_faster * bursts.at_once) continue;
    bursts.burst = knee * (1 - bursts.at_once / bursts.beta);
    if (sum_of_squares(bursts, points) < sum_of_squares(best, points)) best = bursts;
  }
  return simpler(line, best, points, std::min(left_over, by_chance(points, parameters)));
}

namespace {

/// `line` with the step before point `first` that leaves the least sum of squares.
AlphaBeta with_step(AlphaBeta line, std::span<const TimedAmount> points, std::size_t first) {
  double sum = 0, squares = 0;
  for (const TimedAmount& point : points.subspan(first)) {
    sum -= line.residual(point) / point.seconds;
    squares += 1 / (point.seconds * point.seconds);
  }
  line.step = std::max(0.0, sum / squares);
  line.step_after = std::sqrt(points[first - 1].amount * points[first].amount);
  return line;
}

/// The best alpha and beta within a factor of two of those of `line`, with a step before point `first`, which is none
/// at the end.
AlphaBeta best_near(AlphaBeta line, std::span<const TimedAmount> points, std::size_t first) {
  constexpr double near = 2, finer_step = 1.02;
  const AlphaBeta own = line;
  AlphaBeta best = line;
  for (line.alpha = own.alpha / near; line.alpha < own.alpha * near; line.alpha *= finer_step) {
    for (line.beta = own.beta / near; line.beta < own.beta * near; line.beta *= finer_step) {
      const AlphaBeta one = first < points.size() ? with_step(line, points, first) : line;
      if (sum_of_squares(one, points) < sum_of_squares(best, points)) best = one;
    }
  }
  return best;
}

}  // namespace

AlphaBeta fit_burst_following(AlphaBeta line, std::span<const TimedAmount> points) {
  line.follow = true;
  const AlphaBeta plain = best_near(line, points, points.size());
  AlphaBeta stepped = plain;
  for (std::size_t first = 2; first + 2 <= points.size(); ++first) {
    const AlphaBeta one = best_near(line, points, first);
    if (sum_of_squares(one, points) < sum_of_squares(stepped, points)) stepped = one;
  }
  constexpr double parameters = 4;
  return simpler(plain, stepped, points, by_chance(points, parameters));
}

AlphaBeta fit_pair(std::span<const TimedAmount> points) {
  const AlphaBeta burst = fit_burst(fit_stepped(points), points);
  const AlphaBeta other = fit_two_paths(fit_windowed(points), points);
  return burst.burst > 0 && sum_of_squares(burst, points) < sum_of_squares(other, points) ? burst : other;
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
