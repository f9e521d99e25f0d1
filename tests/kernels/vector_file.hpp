// Where reference vectors lie.
#pragma once

#include <filesystem>
#include <string>

namespace trigram {

/// tests/vectors/NAME of the source tree or, where tests were packed to run elsewhere, beside the folder of the
/// program.
std::filesystem::path vector_file(const std::string& name);

}  // namespace trigram
