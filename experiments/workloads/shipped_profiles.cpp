// Registers every table of workloads/profiles by its file's name: a new profile is a new file there.
#include <filesystem>
#include <set>
#include <system_error>

#include "experiments/workloads/profile.hpp"
#include "experiments/workloads/shipped_files.hpp"

namespace trigram {
namespace {

/// A folder that is missing or cannot be read leaves its names unregistered; a bad table is told of when it is used.
bool register_shipped_tables() {
  std::set<std::string> known;
  for (const std::filesystem::path& root : shipped_roots()) {
    std::error_code failed;
    for (const auto& entry : std::filesystem::directory_iterator(root / "workloads" / "profiles", failed)) {
      const std::string name = entry.path().stem().string();
      if (entry.path().extension() != ".csv" || !known.insert(name).second) continue;
      const auto make = [path = entry.path().string()](Params& params) {
        return std::make_unique<Profile>(shared_profile_table(path), params);
      };
      Workloads::Registration(name, {"profile: sizes and times of " + name + ", no arithmetic"}, make);
    }
  }
  return true;
}

const bool tables_registered = register_shipped_tables();

}  // namespace
}  // namespace trigram
