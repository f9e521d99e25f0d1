// What a run comes down to in its study, and how far off that may be.
#pragma once

#include "experiments/study/study_point.hpp"

namespace trigram {

/// The study's measure of a run, scaled; NaN for a run that failed, and for one that never reaches the goal that is
/// measured.
double measured(const Study& study, const StudyResult& result);

/// The error bar of a run's predicted time, a share, from the calibration of its cluster; NaN where there is none.
double error_bar_of(const StudyResult& result);

}  // namespace trigram
