// What the simulator says of measurements: processes that run beside each other, and an answer once given is kept.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "experiments/fit/measurements.hpp"
#include "experiments/fit/predictions/missing_predictions.hpp"
#include "experiments/fit/predictions/predicted.hpp"

namespace trigram {

/// A measurement on a cluster, as it is to be simulated.
struct PlannedMeasurement {
  const Measurement* row = nullptr;
  std::string cluster;  ///< "NAME|FILE[:key=value,…]"
  Settings parameters;  ///< of the cluster, beneath those of the row
};

/// Where predictions come from.
struct PredictionSource {
  int jobs = 1;                     ///< processes at a time
  std::filesystem::path kept = {};  ///< a PredictionFolder, which is asked first and gets what is made; empty: none
  bool makes = true;                ///< else MissingPredictions is thrown for what is not known
};

class Predictor {
 public:
  /// Told of a prediction that was made, and how many seconds that took.
  using Tell = std::function<void(const std::string& identity, double seconds)>;

  /// As many processes at a time.
  explicit Predictor(int jobs) : Predictor(PredictionSource{jobs}) {}
  explicit Predictor(PredictionSource source, Tell tell = {}) : source_(std::move(source)), tell_(std::move(tell)) {}

  /// Throws UsageError naming the row's place for one that cannot run.
  void check(const PlannedMeasurement& planned) const;

  /// Iterations and collectives in the order of `planned`: fidelity fluid and four steps, unless rows
  /// say otherwise. Throws what a simulation throws, naming the row's place where it is a UsageError.
  std::vector<Predicted> predict(const std::vector<PlannedMeasurement>& planned);

 private:
  bool knows(const std::string& identity);
  void add(const std::string& identity, const Predicted& predicted);

  PredictionSource source_;
  Tell tell_;
  std::map<std::string, Predicted> known_;  ///< by identity
};

}  // namespace trigram
