// A text as numbers: what models of characters learn.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace trigram {

/// A text in which each character stands for its place among those that occur, in their order. A character is a byte:
/// beyond ASCII, UTF-8 takes several.
struct CharacterText {
  std::string name;                      ///< "shakespeare", or the path
  std::string alphabet;                  ///< the characters that occur, ascending
  std::vector<std::int32_t> characters;  ///< their places in the alphabet
  std::int64_t training = 0;             ///< those before the last tenth, which is to test

  std::int64_t count() const { return static_cast<std::int64_t>(characters.size()); }
};

/// The text of a file, gzip or plain; empty: the one that comes with trigram. Read once for all who hold it. Throws
/// UsageError naming a file that cannot be read or is empty. Any thread may call.
std::shared_ptr<const CharacterText> shared_text(const std::string& path);

}  // namespace trigram
