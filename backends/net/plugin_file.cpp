#include "backends/net/plugin_file.hpp"

#include <filesystem>

namespace trigram::net_backend {

std::string own_plugin() {
  const std::filesystem::path built = TRIGRAM_NET_PLUGIN;
  std::error_code failed;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", failed);
  const std::filesystem::path installed =
      program.parent_path().parent_path() / TRIGRAM_NET_INSTALLED_IN / built.filename();
  for (const std::filesystem::path& file : {installed, built}) {
    if (std::filesystem::exists(file, failed)) return file;
  }
  return built.filename();
}

}  // namespace trigram::net_backend
