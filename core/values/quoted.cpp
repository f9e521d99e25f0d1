#include "core/values/quoted.hpp"

#include <cstddef>
#include <cstdint>

namespace trigram {
namespace {

constexpr std::size_t longest_shown = 120;

/// Length of the well-formed character at the front of `text`; 0 where there is none, or one that moves the cursor.
std::size_t printable_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return lead >= 0x20 && lead != 0x7f ? 1 : 0;
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const bool control = lead == 0xc2 && byte(1) < 0xa0;
  const bool overlong = (lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xf0 && byte(1) < 0x90);
  const bool surrogate = lead == 0xed && byte(1) >= 0xa0;
  const bool beyond = lead == 0xf4 && byte(1) >= 0x90;
  return control || overlong || surrogate || beyond ? 0 : length;
}

std::string escape(char character) {
  constexpr std::string_view digits = "0123456789abcdef";
  switch (character) {
    case '\n':
      return "\\n";
    case '\t':
      return "\\t";
    case '\r':
      return "\\r";
    default:
      const auto byte = static_cast<std::uint8_t>(character);
      return std::string("\\x") + digits[byte >> 4] + digits[byte & 15];
  }
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = printable_length(text);
    result += length == 0 ? escape(text.front()) : std::string(text.substr(0, length));
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return result;
}

namespace {

/// The begin of a long value, and what is said about the rest.
struct Cut {
  std::string begin, rest;
};

Cut cut(std::string_view value) {
  if (value.size() <= longest_shown) return {printable(value), ""};
  std::size_t end = longest_shown;
  while ((static_cast<std::uint8_t>(value[end]) & 0xc0) == 0x80 && end > longest_shown - 4) --end;
  return {printable(value.substr(0, end)), "... (" + std::to_string(value.size()) + " bytes)"};
}

}  // namespace

std::string in_quotes(std::string_view value) {
  const auto [begin, rest] = cut(value);
  return "'" + begin + "'" + rest;
}

std::string shown(std::string_view value) {
  const auto [begin, rest] = cut(value);
  return begin + rest;
}

}  // namespace trigram
