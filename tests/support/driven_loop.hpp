// A training loop that is not the trainer's: it enters a backend, owns the memory of its model, and tells a
// TrainingStep its moments from two threads.
#pragma once

#include <vector>

#include "core/training/training.hpp"

namespace trigram::testing {

/// Whose optimizer steps the weights.
enum class Steps : std::uint8_t { by_the_object, by_the_loop };

/// Enters as one rank, trains with these options and leaves. What every rank has: `rank` and `weights`.
std::vector<RankReport> drive_as_entered(Backend& backend, const World& world, const TrainingOptions& options,
                                         Steps steps);

/// Expects of each rank the weights, to the last bit, that the trainer gave it.
void expect_weights_of(const std::vector<RankReport>& driven, const Training& trained);

}  // namespace trigram::testing
