#include "ptx/reader/source_places.hpp"

#include <cstddef>
#include <optional>

#include "core/values/error.hpp"
#include "ptx/reader/texts.hpp"

namespace trigram::ptx {

void read_file_name(std::string_view text, std::map<std::uint64_t, std::string>& files) {
  const auto words = split_words(text);
  const std::uint64_t number = words.size() > 2 ? integer_of(words[1]).value_or(0) : 0;
  const std::size_t open = text.find('"'), close = text.find('"', open + 1);
  require(number > 0 && close != std::string_view::npos, "'", text, "' names no file");
  files[number] = text.substr(open + 1, close - open - 1);
}

void SourcePlaces::take(std::string_view directive) {
  if (!directive.starts_with(".loc")) return;
  const auto words = split_words(directive);
  const auto file = words.size() > 2 ? integer_of(words[1]) : std::nullopt;
  const auto line = words.size() > 2 ? integer_of(words[2]) : std::nullopt;
  require(file && line, "it names no line of a file");
  const auto known = files_.find(*file);
  require(known != files_.end(), "there is no file ", *file);
  file_ = known->second;
  line_ = static_cast<std::uint32_t>(*line);
}

Place SourcePlaces::at(std::uint32_t line) const { return {.line = line, .source_file = file_, .source_line = line_}; }

}  // namespace trigram::ptx
