#include "processes/launcher_variables.hpp"

#include <cstdlib>

namespace trigram {

std::optional<std::string> environment_value(const char* variable) {
  const char* value = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): nobody writes the environment
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

int environment_number(const char* variable, int otherwise) {
  const std::optional<std::string> value = environment_value(variable);
  return value ? std::atoi(value->c_str()) : otherwise;
}

}  // namespace trigram
