// Predictions that are asked for where nobody makes them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/values/error.hpp"
#include "experiments/fit/measurements.hpp"

namespace trigram {

/// A prediction that is to be made.
struct PredictionTask {
  Measurement row;
  std::string cluster;   ///< "NAME|FILE[:key=value,…]"
  Settings parameters;   ///< of the cluster, beneath those of the row
  std::string identity;  ///< of the whole configuration, made by this program: another build may say something else
};

/// Predictions that somebody else is to make first.
class MissingPredictions : public Error {
 public:
  explicit MissingPredictions(std::vector<PredictionTask> tasks)
      : Error(std::to_string(tasks.size()) + " predictions have not been made"), tasks_(std::move(tasks)) {}

  const std::vector<PredictionTask>& tasks() const { return tasks_; }

 private:
  std::vector<PredictionTask> tasks_;
};

/// Gathers what is missing of several questions of which none needs the answer to another, so that it can be made at
/// the same time.
class GatheredQuestions {
 public:
  /// Asks, and remembers what is missing.
  template <class Ask>
  void ask(const Ask& ask) {
    try {
      ask();
    } catch (const MissingPredictions& missing) {
      tasks_.insert(tasks_.end(), missing.tasks().begin(), missing.tasks().end());
    }
  }
  /// Throws MissingPredictions where anything was missing.
  void require_all() const {
    if (!tasks_.empty()) throw MissingPredictions(tasks_);
  }

 private:
  std::vector<PredictionTask> tasks_;
};

}  // namespace trigram
