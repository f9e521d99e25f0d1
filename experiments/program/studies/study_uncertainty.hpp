// What draws from ranges say of the runs of a study.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "experiments/program/flags/uncertainty.hpp"
#include "experiments/study/comparison/winner_map.hpp"

namespace trigram {

/// The main runs of a study over all draws.
class StudyUncertainty {
 public:
  /// Draws for every run of `main` that was made, of several seeds for the first: seeds change no iteration's time.
  StudyUncertainty(const Study& study, const std::vector<StudyResult>& main, const Draws& draws);

  /// How probable each row is the fastest, a line a combination of swept values, and what makes the ranges wide.
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
  std::vector<const StudyResult*> results_;
  std::vector<UncertainTime> times_;  ///< of each result
};

/// Throws UsageError for a study whose measure no draw has.
void require_uncertain_measure(const Study& study);

}  // namespace trigram
