// The one training loop, the same on every backend.
#pragma once

#include "core/rank_report.hpp"
#include "core/training_options.hpp"
#include "core/worker.hpp"

namespace trigram {

/// One rank's whole training, of options that `check` let pass.
RankReport train(RankRuntime& runtime, const TrainingOptions& options);

}  // namespace trigram
