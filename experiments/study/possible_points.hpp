// Everything that a study may come to ask for.
#pragma once

#include <vector>

#include "experiments/study/study_point.hpp"

namespace trigram {

/// All points whose outcome nothing decides yet: main ones and variants, those of every value that calibration tries
/// while the others stand in the middle of their grids (none where the study knows its values, unless it is to
/// `recalibrate`), and every choice and seed of the selection.
std::vector<StudyPoint> possible_points(const Study& study, bool recalibrate);

}  // namespace trigram
