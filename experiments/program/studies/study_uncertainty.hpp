// What draws from ranges say of the runs of a study.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "experiments/program/flags/uncertainty.hpp"
#include "experiments/study/comparison/winner_map.hpp"

namespace trigram {

/// Runs of a study of which times are drawn.
using DrawnRuns = std::vector<const StudyResult*>;

/// Those that were made, on the cluster's own network too; of several seeds the first, since seeds change no
/// iteration's time.
DrawnRuns drawn_runs(const Study& study, const std::vector<StudyResult>& main, const std::vector<StudyResult>& own);

/// What is asked for of a run.
UncertainQuestion question_of(const StudyResult& result);

/// Runs of a study over all draws.
class StudyUncertainty {
 public:
  /// `times` are those of `runs`, which must outlive it; `how` they came about is said behind their number.
  StudyUncertainty(const Study& study, DrawnRuns runs, std::vector<UncertainTime> times, std::string how);

  /// Whether any run states a range: else all that was drawn is the model's own error.
  bool has_ranges() const;
  /// How probable each row is the fastest, a line a combination of swept values, and what makes the ranges wide; a line
  /// alone where no run states a range.
  std::string table() const;
  /// A line a run: its folder, median and ranges in the study's measure, the probability that it is the fastest of
  /// those with its swept values, and the shares of the variance.
  std::string csv() const;
  /// Ranges in the study's measure by the folder of a run.
  std::map<std::string, Spread> ranges() const;
  /// The draws of each run.
  DrawnTimes drawn() const;

 private:
  /// Which results have the same swept values.
  std::map<std::string, std::vector<std::size_t>> places() const;
  /// How probable each result is the fastest of its place.
  std::vector<double> chances() const;

  const Study& study_;
  DrawnRuns results_;
  std::vector<UncertainTime> times_;  ///< of each result
  std::string how_;
  std::vector<double> chances_;  ///< of each result to be the fastest of its place
};

}  // namespace trigram
