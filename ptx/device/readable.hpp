// Names of kernels and places as people write them.
#pragma once

#include <string>

#include "ptx/instruction.hpp"

namespace trigram::ptx {

/// "two_means.cu:33", or the line of the PTX where nvcc noted no source.
std::string source_text(const Place& place);

/// A kernel's name as it stands in its source, with its template's arguments, as "find_range<4, Max>", of its whole
/// declaration.
std::string readable_name(const std::string& declared);

/// The same text with every kernel of a Fault called by that name, and places of sources without their folders.
std::string with_readable_names(const std::string& text);

}  // namespace trigram::ptx
