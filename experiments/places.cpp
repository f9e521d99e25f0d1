// Where the program finds the files that it comes with.
#include "experiments/places.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "core/registry.hpp"

#ifndef TRIGRAM_SOURCE_DIR
#define TRIGRAM_SOURCE_DIR "."
#endif

namespace trigram {
namespace {

namespace fs = std::filesystem;

/// PREFIX/share/trigram, from PREFIX/bin/trigram.
fs::path installed_share() {
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  return program.parent_path().parent_path() / "share" / "trigram";
}

bool names_a_file(const std::string& name) { return name.find('/') != std::string::npos || name.ends_with(".cfg"); }

}  // namespace

fs::path shipped_folder(const std::string& kind) {
  const fs::path source = fs::path(TRIGRAM_SOURCE_DIR) / "experiments" / kind;
  if (fs::is_directory(source)) return source;
  const fs::path installed = installed_share() / kind;
  require(fs::is_directory(installed), "the folder of " + kind + " is neither " + source.string() + " nor " +
                                           installed.string() + "; install Trigram again or keep its source tree");
  return installed;
}

std::vector<std::string> shipped_names(const std::string& kind) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(shipped_folder(kind))) {
    if (entry.path().extension() == ".cfg") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

fs::path find_config(const std::string& kind, const std::string& word, const std::string& name) {
  if (names_a_file(name)) {
    require(fs::is_regular_file(name), word + " file '" + name + "' does not exist or is no file");
    return name;
  }
  const fs::path shipped = shipped_folder(kind) / (name + ".cfg");
  if (name.empty() || !fs::is_regular_file(shipped)) throw_unknown_name(word, name, shipped_names(kind));
  return shipped;
}

}  // namespace trigram
