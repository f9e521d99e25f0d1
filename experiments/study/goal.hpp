// When a run reaches the loss that its study asks for.
#pragma once

#include <optional>

#include "experiments/study/study_point.hpp"

namespace trigram {

/// The first evaluation at or below the goal's loss.
struct Reached {
  double seconds = 0;
  double bytes = 0;  ///< sent by a rank on average until then
};

/// nullopt for a run that never gets there.
std::optional<Reached> reached(const Goal& goal, const nlohmann::json& run);

}  // namespace trigram
