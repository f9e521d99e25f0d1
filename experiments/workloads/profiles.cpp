// Registers every table of workloads/profiles by its file's name, and `profile` for tables anywhere else.
#include <filesystem>
#include <set>
#include <system_error>

#include "experiments/workloads/profile.hpp"
#include "experiments/workloads/shipped_files.hpp"

namespace trigram {
namespace {

std::unique_ptr<Workload> make_profile_of(const std::string& path, Params& params) {
  ProfileTable table;
  if (!path.empty()) table = read_profile_table(path);
  return std::make_unique<Profile>(std::move(table), params);
}

const Workloads::Registration registered("profile", {"sizes and times of a network in a table of layers, by path"},
                                         [](Params& params) {
                                           const std::string path = params.get("file", "", "the table, in CSV");
                                           return make_profile_of(path, params);
                                         });

/// A folder that is missing or cannot be read leaves its names unregistered; a bad table is told of when it is used.
bool register_shipped_tables() {
  std::set<std::string> known;
  for (const std::filesystem::path& root : shipped_roots()) {
    std::error_code failed;
    for (const auto& entry : std::filesystem::directory_iterator(root / "workloads" / "profiles", failed)) {
      const std::string name = entry.path().stem().string();
      if (entry.path().extension() != ".csv" || !known.insert(name).second) continue;
      const auto make = [path = entry.path().string()](Params& params) { return make_profile_of(path, params); };
      Workloads::Registration(name, {"profile: sizes and times of " + name + ", no arithmetic"}, make);
    }
  }
  return true;
}

const bool tables_registered = register_shipped_tables();

}  // namespace
}  // namespace trigram
