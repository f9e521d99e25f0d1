// The profiles that the program comes with.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace trigram {

/// The tables of workloads/profiles by name; a folder that is missing or cannot be read has none.
std::map<std::string, std::filesystem::path> shipped_profiles();

}  // namespace trigram
