// Reading of texts.
#include "experiments/workloads/data/character_text.hpp"

#include <array>
#include <limits>

#include "core/values/error.hpp"
#include "core/values/memory.hpp"
#include "core/values/quoted.hpp"
#include "experiments/workloads/data/read_file.hpp"
#include "experiments/workloads/data/shared_cache.hpp"
#include "experiments/workloads/data/shipped_files.hpp"

namespace trigram {
namespace {

constexpr std::int64_t test_part = 10;  // of the text

CharacterText read_text(const std::string& path) {
  const std::string bytes = read_file(path.empty() ? shipped_file("data/shakespeare.txt.gz").string() : path);
  require(!bytes.empty(), shown(path), ": is empty; a text has characters");
  require_memory(static_cast<double>(sizeof(std::int32_t)) * static_cast<double>(bytes.size()), shown(path));
  std::array<std::int32_t, std::numeric_limits<unsigned char>::max() + 1> places{};
  for (const char character : bytes) places[static_cast<unsigned char>(character)] = 1;
  CharacterText text{path.empty() ? "shakespeare" : path, {}, {}, 0};
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i] == 0) continue;
    places[i] = static_cast<std::int32_t>(text.alphabet.size());
    text.alphabet.push_back(static_cast<char>(i));
  }
  text.characters.reserve(bytes.size());
  for (const char character : bytes) text.characters.push_back(places[static_cast<unsigned char>(character)]);
  text.training = text.count() - text.count() / test_part;
  return text;
}

}  // namespace

std::shared_ptr<const CharacterText> shared_text(const std::string& path) {
  static SharedCache<std::string, CharacterText> cache;
  return cache.get(path, [&] { return read_text(path); });
}

}  // namespace trigram
