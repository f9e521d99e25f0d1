#include "experiments/workloads/data/separated.hpp"

#include <algorithm>

namespace trigram {

std::string_view take(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return taken;
}

std::string_view trimmed(std::string_view text) {
  constexpr const char* blanks = " \t\r";
  const std::size_t begin = text.find_first_not_of(blanks);
  return begin == std::string_view::npos ? "" : text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

std::vector<std::string_view> comma_separated(std::string_view line) {
  std::vector<std::string_view> fields;
  for (auto left = 1 + std::count(line.begin(), line.end(), ','); left > 0; --left)
    fields.push_back(trimmed(take(line, ',')));
  return fields;
}

}  // namespace trigram
