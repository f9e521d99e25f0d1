// A run: options are checked before any rank starts, then every rank trains.
#pragma once

#include <string>
#include <vector>

#include "core/backend.hpp"
#include "core/rank_report.hpp"
#include "core/training_options.hpp"

namespace trigram {

/// Checks that these options can run on that backend: names, keys, sizes, data, hierarchy. Throws UsageError.
void check(const TrainingOptions& options, const World& world, const Backend& backend);

/// What all ranks brought home, in rank order.
struct Training {
  std::vector<RankReport> ranks;
  double seconds = 0;          ///< when the last rank ended, on the backend's clock
  std::string facts = "null";  ///< what only the backend knows, as JSON
};

/// check, then train on every rank.
Training run_training(Backend& backend, const World& world, TrainingOptions options);

}  // namespace trigram
