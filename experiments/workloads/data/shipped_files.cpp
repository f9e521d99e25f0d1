// Finds shipped files in the build tree and after installation.
#include "experiments/workloads/data/shipped_files.hpp"

#include <map>
#include <mutex>
#include <string>
#include <system_error>

#include "core/values/error.hpp"

namespace trigram {

namespace {

std::vector<std::filesystem::path> roots_of_this_program() {
  std::error_code failed;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", failed);
  std::vector<std::filesystem::path> roots;
  if (!failed) roots.push_back(program.parent_path().parent_path() / "share" / "trigram");
  roots.emplace_back(TRIGRAM_EXPERIMENTS_DIR);
  roots.push_back(std::filesystem::path(TRIGRAM_EXPERIMENTS_DIR).parent_path());
  roots.emplace_back(TRIGRAM_SHARE_DIR);
  return roots;
}

std::filesystem::path look_for(const std::filesystem::path& relative) {
  std::string tried;
  for (const std::filesystem::path& root : shipped_roots()) {
    std::error_code failed;
    if (std::filesystem::exists(root / relative, failed)) return root / relative;
    tried += (tried.empty() ? "" : ", ") + root.string();
  }
  throw UsageError("'" + relative.string() + "', which comes with trigram, is in none of: " + tried);
}

}  // namespace

const std::vector<std::filesystem::path>& shipped_roots() {
  static const std::vector<std::filesystem::path> roots = roots_of_this_program();
  return roots;
}

std::filesystem::path shipped_file(const std::filesystem::path& relative) {
  // Planning a study asks for the same folders once a cell.
  static std::mutex mutex;
  static std::map<std::filesystem::path, std::filesystem::path> found;
  const std::scoped_lock lock(mutex);
  const auto known = found.find(relative);
  return known != found.end() ? known->second : found.emplace(relative, look_for(relative)).first->second;
}

}  // namespace trigram
