// What the simulator says of one measurement.
#pragma once

#include <limits>

#include "experiments/settings/error_bars.hpp"

namespace trigram {

/// A simulated time, and what takes most of it.
struct Predicted {
  double seconds = 0;
  Regime regime = Regime::compute;
  double bytes = 0;    ///< that a rank sends in a training step, mean over steps and ranks
  double between = 0;  ///< those of them that leave its node
  double waits = 0;    ///< seconds of a training step in which a rank waits for others, mean over steps
  double error = std::numeric_limits<double>::quiet_NaN();  ///< a share, by the cluster's calibration; NaN: none
};

}  // namespace trigram
