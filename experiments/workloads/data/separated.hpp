// Fields of a line of text.
#pragma once

#include <string_view>
#include <vector>

namespace trigram {

/// Takes what stands before the next `separator` off the front of `text`.
std::string_view take(std::string_view& text, char separator);

/// Without blanks and carriage returns at its ends.
std::string_view trimmed(std::string_view text);

/// The fields between commas, trimmed; one for an empty line.
std::vector<std::string_view> comma_separated(std::string_view line);

}  // namespace trigram
