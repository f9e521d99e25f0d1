// What the simulator says of measurements: processes that run beside each other, and an answer once given is kept.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "experiments/fit/measurements.hpp"

namespace trigram {

/// A measurement on a cluster, as it is to be simulated.
struct PlannedMeasurement {
  const Measurement* row = nullptr;
  std::string cluster;  ///< "NAME|FILE[:key=value,…]"
  Settings parameters;  ///< of the cluster, beneath those of the row
};

class Predictor {
 public:
  /// As many processes at a time.
  explicit Predictor(int jobs) : jobs_(jobs) {}

  /// Throws UsageError naming the row's place for one that cannot run.
  void check(const PlannedMeasurement& planned) const;

  /// Seconds of an iteration, or of a collective, in the order of `planned`: fidelity fluid and four steps, unless rows
  /// say otherwise. Throws what a simulation throws, naming the row's place where it is a UsageError.
  std::vector<double> seconds(const std::vector<PlannedMeasurement>& planned);

 private:
  int jobs_;
  std::map<std::string, double> known_;  ///< by configuration
};

}  // namespace trigram
