// The line through measured times: seconds = alpha + beta · amount, and beyond some amount a step more, or a steeper
// line of a window, or of the one of two paths that carries what is short.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "core/world/chunked_paths.hpp"

namespace trigram {

/// What was moved or computed (bytes, flops), and the seconds that it took.
struct TimedAmount {
  double amount = 0;
  double seconds = 0;
};

/// seconds = alpha + beta · amount, and `step` more where amount > step_after. What is beyond `window` waits, window by
/// window, for a round trip of 2 · alpha, so that beta · amount is that of the last window. Beyond step_after it is
/// spread over `connections`, each of which has a window. With a `chunk` there are two paths, the other of which is
/// `slower` times as fast, and beta is that of both together. With a `burst` that much of an amount is at the other end
/// when the rest begins, or as little as `at_once` seconds a unit lets through.
struct AlphaBeta {
  double alpha = 0;  ///< seconds
  double beta = 0;   ///< seconds a unit
  double step = 0;   ///< seconds
  double step_after = std::numeric_limits<double>::infinity();
  double window = std::numeric_limits<double>::infinity();  ///< amount
  /// Amounts follow each other: what is not announced before finds the window full of the one before, and comes as fast
  /// as a window passes in a round trip.
  bool follow = false;
  int connections = 1;
  double chunk = 0, slower = 0;
  double burst = 0, at_once = 0;

  /// What is open at once for such an amount.
  double open(double amount) const { return amount > step_after ? connections * window : window; }
  /// Windows that are full before the last.
  double full(double amount) const { return amount > open(amount) ? std::ceil(amount / open(amount)) - 1 : 0; }
  /// What leaves at last, without waiting.
  double last(double amount) const { return full(amount) > 0 ? amount - full(amount) * open(amount) : amount; }
  double seconds(double amount) const {
    if (chunk > 0) return alpha + beta * ChunkedPaths({1, slower}, chunk).occupied(amount);
    if (burst > 0) return alpha + std::max(at_once * amount, beta * (amount - earned())) + announced(amount);
    if (follow && amount <= step_after) return following(amount);
    return alpha * (1 + 2 * full(amount)) + beta * last(amount) + announced(amount);
  }
  double announced(double amount) const { return amount > step_after ? step : 0; }
  /// Of a burst: all of it after a pause, and where amounts follow each other what a way of one is long enough for.
  double earned() const { return follow ? std::min(burst, alpha / beta) : burst; }
  /// One connection is never empty; of several each has one amount, and waits for its own windows.
  double following(double amount) const {
    const double own = connections > 1 ? alpha * (1 + 2 * full(amount)) + beta * last(amount) : alpha + beta * amount;
    return std::max(own, 2 * alpha * amount / (connections * window));
  }
  /// How far the line is from a measured point: predicted / measured − 1.
  double residual(const TimedAmount& point) const { return seconds(point.amount) / point.seconds - 1; }
};

/// The line whose residuals have the least sum of squares: every size counts alike, however long it took. alpha is not
/// negative. Throws Error without two different amounts, or for a time that is not above 0.
AlphaBeta fit_alpha_beta(std::span<const TimedAmount> points);

/// The same, with the step that fits best: between two measured amounts, at their geometric mean. A line without a step
/// where none explains most of what such a line leaves over, or its residuals are below 2 %. `points` ascend.
AlphaBeta fit_stepped(std::span<const TimedAmount> points);

/// The same, with the window that fits best, where that explains most of what a line without one leaves over, and with
/// as many connections as make it fit much better than one. The second amount passes without waiting, and the last two
/// wait.
AlphaBeta fit_windowed(std::span<const TimedAmount> points);

/// `line`, or the line of two paths that fits best, where that explains most of what `line` leaves over.
AlphaBeta fit_two_paths(const AlphaBeta& line, std::span<const TimedAmount> points);

/// `line`, or the line with the burst that fits best, where that explains most of what `line` leaves over. Two amounts
/// at least are below the burst, and four beyond.
AlphaBeta fit_burst(const AlphaBeta& line, std::span<const TimedAmount> points);

/// The burst of `line` with the alpha and the beta near its own that leave least over of amounts that follow each
/// other, and with the step that does, where one would seldom come by chance.
AlphaBeta fit_burst_following(AlphaBeta line, std::span<const TimedAmount> points);

/// What explains best what a pair of hosts takes, each message of which finds the network idle: windows, two paths, a
/// burst, or none of these. `points` ascend.
AlphaBeta fit_pair(std::span<const TimedAmount> points);

/// Least squares of relative residuals with the two paths of `line`.
AlphaBeta fit_chunked(AlphaBeta line, std::span<const TimedAmount> points);

/// `line` with the window of amounts that follow each other, which leaves the least sum of squares. `points` ascend.
AlphaBeta fit_following(AlphaBeta line, std::span<const TimedAmount> points);

/// The same as fit_alpha_beta with alpha given.
AlphaBeta fit_beta(double alpha, std::span<const TimedAmount> points);

}  // namespace trigram
