// The catalogue of algorithms that the source tree has.
#pragma once

#include <filesystem>
#include <string>

namespace trigram {

/// What algorithms/README.md of the source tree at `tree` lacks of the algorithm that a file of algorithms/ has by this
/// name, as a line for people; empty where nothing is lacking, and of an algorithm that has no file there.
std::string missing_in_catalogue(const std::filesystem::path& tree, const std::string& algorithm);

}  // namespace trigram
