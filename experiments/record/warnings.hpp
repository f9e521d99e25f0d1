// What a backend warns of, on the screen.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace trigram {

/// The warnings among a backend's facts: parameters that had no influence, links that nothing used.
std::vector<std::string> warnings_of(const nlohmann::json& facts);

/// One line each on standard error.
void print_warnings(const std::vector<std::string>& warnings);

}  // namespace trigram
