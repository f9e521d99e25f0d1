// A word as a shell takes it, for commands that people copy.
#pragma once

#include <string>

namespace trigram {

/// The text as one word of a shell's command line: as it is, or between single quotes where it needs them.
std::string shell_word(const std::string& text);

}  // namespace trigram
