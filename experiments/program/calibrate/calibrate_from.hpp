// trigram calibrate --from: parameters of a cluster from a user's own times.
#pragma once

#include <filesystem>
#include <string>

#include "experiments/fit/predictions/predictor.hpp"

namespace trigram {

/// What is asked for.
struct CalibrateFrom {
  std::filesystem::path table;  ///< of measurements
  std::string cluster;          ///< what is known before
  std::string parameters;       ///< "nic_efficiency,nic_window=64KiB:16MiB"
  std::filesystem::path out;    ///< the cluster file; empty: on the screen only
  PredictionSource source;
};

/// Fits, prints, and writes the cluster file. Throws UsageError before the first simulation for whatever cannot be, and
/// MissingPredictions before anything is printed. Where the source makes nothing, nothing is printed or written either.
void calibrate_from(const CalibrateFrom& asked);

}  // namespace trigram
