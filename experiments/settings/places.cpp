// Finds clusters, studies and plots by name.
#include "experiments/settings/places.hpp"

#include <algorithm>

#include "core/registry/registry.hpp"
#include "core/values/error.hpp"
#include "core/values/quoted.hpp"
#include "experiments/workloads/data/shipped_files.hpp"

namespace trigram {
namespace {

namespace fs = std::filesystem;

bool names_a_file(const std::string& name) {
  return name.find('/') != std::string::npos || name.ends_with(".cfg") || name.ends_with(".xml");
}

}  // namespace

fs::path shipped_folder(const std::string& kind) { return shipped_file(kind); }

std::vector<std::string> shipped_names(const std::string& kind) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(shipped_folder(kind))) {
    if (entry.path().extension() == ".cfg") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<fs::path> reference_page(const std::string& subcommand) {
  for (const fs::path& root : shipped_roots()) {
    const fs::path page = root / "docs" / "reference" / (subcommand + ".md");
    std::error_code failed;
    if (fs::is_regular_file(page, failed)) return page;
  }
  return std::nullopt;
}

fs::path find_config(const std::string& kind, const std::string& word, const std::string& name) {
  std::error_code unusable;  // names that are too long are nobody's
  if (names_a_file(name)) {
    require(fs::is_regular_file(name, unusable), word, " file ", Quoted(name), " does not exist or is no file");
    return name;
  }
  const fs::path shipped = shipped_folder(kind) / (name + ".cfg");
  if (name.empty() || !fs::is_regular_file(shipped, unusable)) throw_unknown_name(word, name, shipped_names(kind));
  return shipped;
}

}  // namespace trigram
