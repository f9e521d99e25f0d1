// Predictions that were made before, kept on a disk that several machines may share.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "experiments/fit/predictions/predicted.hpp"

namespace trigram {

/// A file a prediction, IDENTITY.json, which is whole or not there. It needs no locks, and two who make the same one do
/// no harm.
class PredictionFolder {
 public:
  explicit PredictionFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// Nothing where it is not there, or cannot be read.
  std::optional<Predicted> find(const std::string& identity) const;
  /// Throws UsageError where it cannot be written.
  void keep(const std::string& identity, const Predicted& predicted) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace trigram
