// Where the files of this checkout lie that tests read.
#pragma once

#include <filesystem>

namespace trigram {

/// The root of the source tree that the tests were built from.
std::filesystem::path source_tree();

}  // namespace trigram
