#include "core/registry.hpp"

namespace trigram {

void throw_unknown_name(std::string_view kind, std::string_view name, const std::vector<std::string>& known) {
  std::string message = "unknown " + std::string(kind) + " '" + std::string(name) + "'; this build has: ";
  for (std::size_t i = 0; i < known.size(); ++i) message += (i == 0 ? "" : ", ") + known[i];
  if (known.empty()) message += "none";
  throw UsageError(message);
}

}  // namespace trigram
