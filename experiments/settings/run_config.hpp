// One run, from flags: what the backend, the world and the trainer are asked for.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/training/backend.hpp"
#include "core/training/training_options.hpp"
#include "experiments/settings/backend_choice.hpp"
#include "experiments/settings/settings.hpp"

namespace trigram {

/// The workload that a profile is: that of a name, as vgg16:batch=8, or of a table, as mine.csv:batch=8.
std::string profile_workload(const std::string& profile);

/// Declares and reads World::hierarchy_chunks.
int read_hierarchy_chunks(Params& flags);

/// The flags of `trigram run`, as they were given.
struct RunFlags {
  /// Declares and reads them. Throws UsageError for a value of the wrong type or unit.
  explicit RunFlags(Params& flags);

  PlaceFlags place;
  std::string system;  ///< whose defaults the other flags have; empty: the program's own
  TrainingOptions training;
  World world;  ///< ranks 0: as many as the cluster has
  std::filesystem::path out;
  std::filesystem::path checkpoint;  ///< folder of checkpoints; empty: none are left
  std::filesystem::path resume;      ///< one of those, or a manifest in it, to go on from; empty: training begins
  std::string membership;            ///< when members join, leave and are lost; empty: they never do
  double detection_s = 1;            ///< simulated seconds until a member that is lost is missed
  double meeting_s = 0;              ///< and those in which members meet again at each change
  bool trace = false;
  bool progress = false;

  /// The schedule that `membership` names; empty where it is a product.
  std::filesystem::path membership_file() const;

 private:
  void read_checkpoints(Params& flags);
  void read_membership(Params& flags);
};

/// A whole configuration of `trigram run`. It is made from text, which is kept, so that it can be reported and
/// compared.
struct RunConfig : RunFlags {
  /// Throws UsageError for an unknown flag, a value of the wrong type or unit, and an unknown cluster. `owner` is what
  /// messages name, as "trigram run".
  RunConfig(const std::string& owner, const Settings& given);

  /// Settings and cluster parameters that decide the results, one a line: equal text, equal results.
  std::string identity() const;

  BackendChoice backend;
  Settings settings;  ///< every flag, with defaults

 private:
  explicit RunConfig(Params flags);
};

/// The flags of `trigram run`.
const std::vector<Params::Declared>& run_flags();

/// Their defaults.
Settings run_defaults();
/// The same flags with the cluster that is simulated where none is given.
Settings with_cluster(Settings run);

}  // namespace trigram
