// Registers every table of workloads/profiles by its file's name: a new profile is a new file there.
#include "experiments/workloads/shipped_profiles.hpp"

#include <system_error>

#include "experiments/workloads/data/shipped_files.hpp"
#include "experiments/workloads/profile.hpp"

namespace trigram {

std::map<std::string, std::filesystem::path> shipped_profiles() {
  std::map<std::string, std::filesystem::path> found;
  for (const std::filesystem::path& root : shipped_roots()) {
    std::error_code failed;
    for (const auto& entry : std::filesystem::directory_iterator(root / "workloads" / "profiles", failed)) {
      if (entry.path().extension() == ".csv") found.emplace(entry.path().stem().string(), entry.path());
    }
  }
  return found;
}

namespace {

/// A bad table is told of when it is used.
bool register_shipped_tables() {
  for (const auto& [name, path] : shipped_profiles()) {
    const auto make = [file = path.string()](Params& params) {
      return std::make_unique<Profile>(shared_profile_table(file), params);
    };
    Workloads::Registration(name, {"profile: sizes and times of " + name + ", no arithmetic"}, make);
  }
  return true;
}

const bool tables_registered = register_shipped_tables();

}  // namespace
}  // namespace trigram
