#include "experiments/program/products/check_kinds.hpp"

#include "core/values/error.hpp"

namespace trigram {

std::size_t kind_of(std::span<const NamedKind> kinds, const std::string& asked, const std::string& product) {
  std::vector<std::size_t> found;
  std::vector<std::string> known, known_kinds;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    known_kinds.emplace_back(kinds[i].name);
    if (!asked.empty() && asked != kinds[i].name) continue;
    const std::vector<std::string> names = kinds[i].names();
    known.insert(known.end(), names.begin(), names.end());
    if (std::ranges::find(names, product) != names.end()) found.push_back(i);
  }
  if (!asked.empty() && std::ranges::find(known_kinds, asked) == known_kinds.end())
    throw_unknown_name("kind", asked, known_kinds);
  std::ranges::sort(known);
  known.erase(std::unique(known.begin(), known.end()), known.end());
  if (found.empty()) throw_unknown_name(asked.empty() ? "product" : asked, product, known);
  const char* const first = kinds[found.front()].name;
  const char* const last = kinds[found.back()].name;
  require(found.size() == 1, "trigram check: '", product, "' is the name of an ", first, " and of a ", last,
          "; say which by --kind ", first, " or --kind ", last);
  return found.front();
}

}  // namespace trigram
