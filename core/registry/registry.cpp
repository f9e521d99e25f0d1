#include "core/registry/registry.hpp"

#include "core/registry/spelling.hpp"
#include "core/values/quoted.hpp"

namespace trigram {

void throw_unknown_name(std::string_view kind, std::string_view name, const std::vector<std::string>& known) {
  const std::string owner = name_of_owner(kind, name);
  std::string message = name.empty() ? owner + " has no name; write name:key=value,key=value"
                                     : "unknown " + owner + did_you_mean(name, known);
  message += "; this build has: ";
  for (std::size_t i = 0; i < known.size(); ++i) message += (i == 0 ? "" : ", ") + known[i];
  if (known.empty()) message += "none";
  throw UsageError(message);
}

std::string name_of_owner(std::string_view kind, std::string_view name) {
  return std::string(kind) + " " + in_quotes(name);
}

}  // namespace trigram
