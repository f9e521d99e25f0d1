// What a run comes down to in its study, and when two runs are told apart.
#pragma once

#include "experiments/study/study_point.hpp"

namespace trigram {

/// The study's measure of a run, scaled; NaN for a run that failed, and for one that never reaches the goal that is
/// measured.
double measured(const Study& study, const StudyResult& result);

/// The error bar of a run's predicted time, a share, from the calibration of its cluster; NaN where there is none.
double error_bar_of(const StudyResult& result);

/// A predicted value and its error bar, a share.
struct WithErrorBar {
  double value = 0;
  double error = 0;
};

/// Whether the error bars do not tell them apart: they are nearer to each other than the longer of both bars is.
bool too_close(const WithErrorBar& one, const WithErrorBar& other);

}  // namespace trigram
