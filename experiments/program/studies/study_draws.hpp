// Draws of a study: each of them simulated, or told by a few simulations of each run.
#pragma once

#include <optional>

#include "experiments/program/studies/study_flags.hpp"
#include "experiments/program/studies/study_uncertainty.hpp"

namespace trigram {

/// Throws UsageError for a study whose measure no draw has.
void require_uncertain_measure(const Study& study);

/// Each draw of each run is simulated, as long as the run. Throws what a simulation throws, and MissingPredictions.
StudyUncertainty whole_draws(const Study& study, DrawnRuns runs, const Draws& draws);

/// As the flags say: as `whole_draws` where --uncertainty is given. Else a few simulations tell all draws: up to four
/// of each run, with as many steps as stand for all of its own, which together are at most as many as the run has;
/// those that were made before are used again. Nothing then where the study measures something else, or has measured
/// times whose errors it knows, and where no cluster or system states a range or an error. Left out are runs with
/// members that come and go, those that are no simulations, and those that train and of which no few steps stand for
/// all.
std::optional<StudyUncertainty> study_draws(const Study& study, const std::vector<StudyResult>& main,
                                            const std::vector<StudyResult>& own, const StudyFlags& flags);

}  // namespace trigram
