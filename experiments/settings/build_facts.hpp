// What this program was built from and with, for run.json and --version.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace trigram {

/// "0.1.0".
std::string build_version();

/// The commit that was built, its first twelve digits.
std::string build_revision();

/// Version, revision, compiler, flags and build type.
nlohmann::json build_facts();

}  // namespace trigram
