// What the simulator says of measurements: processes that run beside each other, and an answer once given is kept.
#pragma once

#include <limits>
#include <map>
#include <string>
#include <vector>

#include "experiments/fit/measurements.hpp"
#include "experiments/settings/error_bars.hpp"

namespace trigram {

/// A measurement on a cluster, as it is to be simulated.
struct PlannedMeasurement {
  const Measurement* row = nullptr;
  std::string cluster;  ///< "NAME|FILE[:key=value,…]"
  Settings parameters;  ///< of the cluster, beneath those of the row
};

/// A simulated time, and what takes most of it.
struct Predicted {
  double seconds = 0;
  Regime regime = Regime::compute;
  double bytes = 0;    ///< that a rank sends in a training step, mean over steps and ranks
  double between = 0;  ///< those of them that leave its node
  double waits = 0;    ///< seconds of a training step in which a rank waits for others, mean over steps
  double error = std::numeric_limits<double>::quiet_NaN();  ///< a share, by the cluster's calibration; NaN: none
};

class Predictor {
 public:
  /// As many processes at a time.
  explicit Predictor(int jobs) : jobs_(jobs) {}

  /// Throws UsageError naming the row's place for one that cannot run.
  void check(const PlannedMeasurement& planned) const;

  /// Iterations and collectives in the order of `planned`: fidelity fluid and four steps, unless rows
  /// say otherwise. Throws what a simulation throws, naming the row's place where it is a UsageError.
  std::vector<Predicted> predict(const std::vector<PlannedMeasurement>& planned);

 private:
  int jobs_;
  std::map<std::string, Predicted> known_;  ///< by configuration
};

}  // namespace trigram
