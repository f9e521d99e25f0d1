#include "core/registry/spelling.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace trigram {
namespace {

constexpr std::size_t longest_word = 64;
constexpr std::size_t letters_of_a_beginning = 3;

std::string normal(std::string_view word) {
  std::string text(word);
  for (char& letter : text) {
    letter = letter == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  return text;
}

/// Letters changed, left out, added, or swapped with their neighbour.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> least(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        least[i][j] = i + j;
        continue;
      }
      const std::size_t changed = least[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      least[i][j] = std::min({changed, least[i - 1][j] + 1, least[i][j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) least[i][j] = std::min(least[i][j], least[i - 2][j - 2] + 1);
    }
  }
  return least[a.size()][b.size()];
}

}  // namespace

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  if (word.empty() || word.size() > longest_word) return {};
  const std::string meant = normal(word);
  std::size_t least = 1 + meant.size() / 3;
  const std::string* nearest = nullptr;
  for (const std::string& name : known) {
    const std::string candidate = normal(name);
    if (candidate.size() > longest_word) continue;
    const bool begins = meant.size() >= letters_of_a_beginning && candidate.starts_with(meant);
    const std::size_t distance =
        begins ? std::min<std::size_t>(1, candidate.size() - meant.size()) : edit_distance(meant, candidate);
    if (distance >= least || distance >= candidate.size()) continue;
    least = distance;
    nearest = &name;
  }
  return nearest == nullptr ? "" : " (did you mean '" + *nearest + "'?)";
}

}  // namespace trigram
