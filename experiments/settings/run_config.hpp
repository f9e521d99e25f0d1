// One run, from flags: what the backend, the world and the trainer are asked for.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/backend.hpp"
#include "core/training_options.hpp"
#include "experiments/settings/settings.hpp"

namespace trigram {

/// A whole configuration of `trigram run`. It is made from text, which is kept, so that it can be reported and
/// compared.
struct RunConfig {
  /// Throws UsageError for an unknown flag, a value of the wrong type or unit, and an unknown cluster. `owner` is what
  /// messages name, as "trigram run".
  RunConfig(const std::string& owner, const Settings& given);

  /// The backend with its cluster. Throws UsageError for parameters that it does not take.
  std::unique_ptr<Backend> make_backend() const;

  /// Settings and cluster parameters that decide the results, one a line: equal text, equal results.
  std::string identity() const;

  Settings settings;  ///< every flag, with defaults
  std::string backend;
  Params cluster;
  World world;  ///< ranks 0: as many as the cluster has
  TrainingOptions training;
  std::filesystem::path out;
  bool trace = false;
  bool progress = false;
};

/// The flags of `trigram run`.
const std::vector<Params::Declared>& run_flags();

/// Their defaults.
Settings run_defaults();

}  // namespace trigram
