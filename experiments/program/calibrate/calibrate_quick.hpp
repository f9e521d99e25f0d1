// trigram calibrate --quick: a cluster's file with ranges in at most two minutes, and how far off it predicts.
#pragma once

#include <filesystem>
#include <string>

#include "core/training/backend.hpp"
#include "experiments/measure/measured_cluster.hpp"

namespace trigram {

/// What is asked for.
struct QuickCalibration {
  std::string where;          ///< the backend or the cluster, for the file's first line
  std::filesystem::path out;  ///< the cluster file; empty: on the screen only
  double seconds = 0;         ///< that all may take
};

/// Measures on all ranks, which all call; rank 0 prints, and writes the file. `samples` says nodes and patterns.
void calibrate_quickly(const QuickCalibration& asked, ClusterSamples samples, Backend& backend, const World& world);

}  // namespace trigram
