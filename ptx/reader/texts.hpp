// Cuts one statement of PTX into its words and its operands.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace trigram::ptx {

/// Without blanks at either end.
std::string_view trimmed(std::string_view text);

/// The parts between separators, trimmed; what stands in braces or brackets is not cut. None of an empty text.
std::vector<std::string_view> split_operands(std::string_view text, char separator = ',');

/// The words between blanks.
std::vector<std::string_view> split_words(std::string_view text);

/// The bits of an integer as PTX writes it: 12, -1, 0x1F, 017, 0b11, 5U; nothing where the text is none.
std::optional<std::uint64_t> integer_of(std::string_view text);

}  // namespace trigram::ptx
