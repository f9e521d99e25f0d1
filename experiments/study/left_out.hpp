// How well ranges hold for sources of which nothing was looked at: each source left out whole, and judged by the
// others.
#pragma once

#include <string>
#include <vector>

#include "experiments/study/comparison/agreement.hpp"

namespace trigram {

/// Orders that are predicted with a probability of `called` or more, and of how many that were asked for.
struct Calls {
  Share called;
  int asked = 0;

  void add(const PredictedPair& pair, double chance);
  Calls& operator+=(const Calls& more);
};

/// A source, judged by ranges that only the errors of all other sources have made.
struct LeftOut {
  std::string source;
  int rows = 0;
  double error = 0;       ///< mean of |error|
  double arithmetic = 0;  ///< the same of arithmetic, over the rows for which there is one; NaN: there is none
  int in_68 = 0, in_95 = 0;
  double width_68 = 0;             ///< mean factor from a prediction to an end of its range, less 1
  double width_68_arithmetic = 0;  ///< the same of ranges that arithmetic's own errors make
  Calls order = {}, pays = {};     ///< of pairs, and of whether a method is faster than another
  /// 1 - error / arithmetic.
  double skill() const { return 1 - error / arithmetic; }
};

/// One of each source that has predictions, in their order. A range of a prediction is a factor either way: the
/// quantile of |ln(predicted / measured)| over the rows of other sources that the same regime limits, or over all of
/// other sources where these are fewer than 15. A row that something was found from predicts nothing, and makes no
/// range. An order is called by how far off ratios of two predictions under one condition were on other sources: the
/// root of the mean square of ln(predicted ratio / measured ratio), each source counted alike, as the deviation of a
/// normal logarithm; where other sources have fewer than 15 such pairs, by that of both predictions.
std::vector<LeftOut> left_out(const std::vector<Prediction>& all);

}  // namespace trigram
