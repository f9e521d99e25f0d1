// Finds shipped files in the build tree and after installation.
#include "experiments/workloads/data/shipped_files.hpp"

#include <string>
#include <system_error>

#include "core/error.hpp"

namespace trigram {

std::vector<std::filesystem::path> shipped_roots() {
  static std::error_code failed;
  static const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", failed);
  std::vector<std::filesystem::path> roots;
  if (!failed) roots.push_back(program.parent_path().parent_path() / "share" / "trigram");
  roots.emplace_back(TRIGRAM_EXPERIMENTS_DIR);
  roots.push_back(std::filesystem::path(TRIGRAM_EXPERIMENTS_DIR).parent_path());
  roots.emplace_back(TRIGRAM_SHARE_DIR);
  return roots;
}

std::filesystem::path shipped_file(const std::filesystem::path& relative) {
  std::string tried;
  for (const std::filesystem::path& root : shipped_roots()) {
    std::error_code failed;
    if (std::filesystem::exists(root / relative, failed)) return root / relative;
    tried += (tried.empty() ? "" : ", ") + root.string();
  }
  throw UsageError("'" + relative.string() + "', which comes with trigram, is in none of: " + tried);
}

}  // namespace trigram
