// A study of measurements: how far predictions are off, whether they rank as measured, and what each mechanism is
// worth.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "experiments/settings/error_bars.hpp"
#include "experiments/study/study_point.hpp"

namespace trigram {

/// A measurement beside what was predicted.
struct Prediction {
  const Row* row = nullptr;                                      ///< whose measurement it is
  double seconds = 0;                                            ///< predicted, of an iteration
  double arithmetic = std::numeric_limits<double>::quiet_NaN();  ///< what arithmetic says of it; NaN: nothing
  Regime regime = Regime::bandwidth;                             ///< what takes most of `seconds`

  const Observation& measured() const { return *row->observation; }
  double error() const;  ///< (predicted − measured) / measured
};

/// All measurements as the results of `variant` predict them, or as the main ones do where it has none; those whose
/// runs failed are left out. The study and its rows must outlive them.
std::vector<Prediction> predictions(const Study& study, const std::vector<StudyResult>& results,
                                    const std::string& variant = "");

/// Mean of |error|; NaN for none.
double mean_error(const std::vector<Prediction>& some);

/// So many of so many.
struct Share {
  int right = 0, all = 0;
};

/// Two measurements that are compared.
struct PredictedPair {
  const Prediction *one = nullptr, *other = nullptr;
  /// Whether they are predicted in the order in which they were measured.
  bool right() const;
  /// ln of their predicted ratio over the measured one.
  double log_error() const;
};

/// Any two of one source under one condition.
std::vector<PredictedPair> pairs_under_one_condition(const std::vector<Prediction>& some);
/// Those of them whose measured times differ by more than a tenth of the smaller.
std::vector<PredictedPair> distinct_pairs(const std::vector<Prediction>& some);
/// Predicted measurements that name a method to be faster than, each with that method's measurement.
std::vector<PredictedPair> asked_to_pay(const std::vector<Prediction>& some);

/// How many of these are right.
Share right_of(const std::vector<PredictedPair>& pairs);

/// The decisions that are predicted otherwise, as "METHOD at CONDITION".
std::vector<std::string> wrong_decisions(const std::vector<Prediction>& some);

/// A line a measurement: what it is, seconds measured and predicted, and the error.
std::string agreement_csv(const std::vector<Prediction>& all);

}  // namespace trigram
