#include "ptx/reader/declaration.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <vector>

#include "core/values/error.hpp"
#include "ptx/reader/texts.hpp"
#include "ptx/reader/type.hpp"

namespace trigram::ptx {

namespace {

using Words = std::vector<std::string_view>;

std::uint32_t alignment_in(const Words& words, std::size_t at) {
  require(at < words.size(), "no number follows .align");
  const auto value = integer_of(words[at]);
  require(value && std::has_single_bit(*value) && *value <= 1024, words[at], " is no alignment");
  return static_cast<std::uint32_t>(*value);
}

/// What a pointer points to says nothing of the pointer itself. Returns where the words after it begin.
std::size_t past_pointee(const Words& words, std::size_t at) {
  for (const std::string_view space : {".global", ".shared", ".const", ".local"})
    at += at < words.size() && words[at] == space;
  if (at < words.size() && words[at] == ".align") {
    alignment_in(words, at + 1);
    at += 2;
  }
  return at;
}

/// Reads `name`, `name[4]` or `name[]`; the size is in elements.
void read_name(std::string_view text, Declaration& declared) {
  declared.name = trimmed(text.substr(0, text.find('[')));
  declared.size = 1;
  for (std::size_t open = text.find('['); open != std::string_view::npos; open = text.find('[', open + 1)) {
    const std::string_view inside = trimmed(text.substr(open + 1, text.find(']', open) - open - 1));
    if (inside.empty() && text.find('[', open + 1) == std::string_view::npos) {
      declared.sized_by_launch = true;
      declared.size = 0;
      return;
    }
    const auto count = integer_of(inside);
    require(count && *count > 0 && *count <= 1U << 20, "'", inside, "' is no number of elements");
    declared.size *= static_cast<std::uint32_t>(*count);
  }
}

}  // namespace

Declaration read_declaration(std::string_view text) {
  Declaration declared;
  const Words words = split_words(text);
  std::uint32_t element = 0;
  std::size_t at = 0;
  while (at < words.size() && words[at].starts_with('.')) {
    if (words[at] == ".align") {
      declared.alignment = alignment_in(words, at + 1);
      at += 2;
    } else if (words[at] == ".ptr") {
      at = past_pointee(words, at + 1);
    } else {
      const auto type = type_named(words[at].substr(1));
      require(type && type->bytes > 0 && element == 0, "the interpreter does not know ", words[at],
              " in a declaration");
      element = type->bytes;
      ++at;
    }
  }
  require(element > 0 && at < words.size(), "a declaration needs a type and a name");
  const std::size_t begin = static_cast<std::size_t>(words[at].data() - text.data());
  require(text.find('=') == std::string_view::npos, "the interpreter does not know variables that begin with values");
  read_name(text.substr(begin), declared);
  declared.size *= element;
  declared.alignment = std::max(declared.alignment, element);
  return declared;
}

}  // namespace trigram::ptx
