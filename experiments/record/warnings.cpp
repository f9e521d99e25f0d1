// Lines of warning.
#include "experiments/record/warnings.hpp"

#include <iostream>
#include <nlohmann/json.hpp>

namespace trigram {

std::vector<std::string> warnings_of(const nlohmann::json& facts) {
  return facts.is_object() ? facts.value("warnings", std::vector<std::string>{}) : std::vector<std::string>{};
}

void print_warnings(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) std::cerr << "trigram: warning: " << warning << std::endl;
}

}  // namespace trigram
