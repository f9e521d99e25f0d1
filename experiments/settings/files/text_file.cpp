#include "experiments/settings/files/text_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "core/values/error.hpp"
#include "core/values/quoted.hpp"

namespace trigram {

std::optional<std::string> read_text(const std::filesystem::path& path, std::size_t most) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  std::array<char, 1 << 16> piece{};
  do {
    file.read(piece.data(), static_cast<std::streamsize>(std::min(piece.size(), most - text.size())));
    text.append(piece.data(), static_cast<std::size_t>(file.gcount()));
  } while (file && text.size() < most);
  const bool failed = !file.is_open() || file.bad() || (errno != 0 && text.empty());
  return failed ? std::nullopt : std::optional(std::move(text));
}

std::string text_by_hand(const std::filesystem::path& path, const std::string& what) {
  constexpr std::size_t most = 1 << 20;
  std::optional<std::string> text = read_text(path, most + 1);
  require(text.has_value(), "cannot read ", Quoted(path.native()), ": ", std::strerror(errno));
  require(text->size() <= most, Quoted(path.native()), " is longer than ", most, " bytes; it cannot be ", what);
  return *std::move(text);
}

}  // namespace trigram
