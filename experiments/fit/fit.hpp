// Parameters of a model found from measured times: how well each is known, which cannot be told apart, and how far off
// the model is on what it was not fitted to.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "experiments/fit/fit_parameter.hpp"
#include "experiments/measure/search.hpp"

namespace trigram {

/// What was measured: seconds, and where they come from.
struct Measured {
  double seconds = 0;
  std::string source;  ///< rows of one source are left out together
};

/// Seconds of some of the rows, by their numbers, with parameters at a place.
using Predict = std::function<std::vector<double>(const Place&, const std::vector<std::size_t>& rows)>;

/// What is to be fitted. Errors are logarithms of predicted over measured, so that every row counts by its ratio.
struct FitProblem {
  std::vector<FitParameter> parameters;  ///< at least one
  Place start;                           ///< what is known before; decides what the measurements do not
  std::vector<Measured> rows;            ///< at least one
  Predict predict;
};

/// Between which places a parameter is with 95 %; the whole range where the measurements say nothing of it.
struct Interval {
  double low = 0, high = 1;
  bool known = false;
};

/// Parameters that move together without any row noticing: `steps` lead that way.
struct BlindDirection {
  Place steps;                ///< of length 1; what takes no part is 0
  double largest_change = 0;  ///< of a row's logarithm, along all of it
};

struct Fit {
  Place place;                        ///< where the sum of squares is least
  std::vector<Interval> intervals;    ///< by parameter
  std::vector<BlindDirection> blind;  ///< none where all are told apart
  std::vector<double> predicted;      ///< seconds by row
};

/// Searches everywhere, then looks at how rows change around what was found. Intervals are Student's, from the errors
/// that are left; a direction along which they leave most of the range open is blind. Of no more rows than parameters
/// nothing is said.
Fit fit(const FitProblem& problem);

/// What the model predicts of each row, in seconds, when it is fitted to the others.
std::vector<double> left_out(const FitProblem& problem, const Fit& found);

/// The same when it is fitted to the rows of other sources. Empty where there is only one source, or one whose removal
/// leaves no more rows than parameters.
std::vector<double> sources_left_out(const FitProblem& problem, const Fit& found);

/// Mean of |predicted / measured − 1|.
double mean_error(const std::vector<Measured>& rows, const std::vector<double>& predicted);

}  // namespace trigram
