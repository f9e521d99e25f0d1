#include "experiments/program/products/catalogue.hpp"

#include <optional>

#include "experiments/settings/files/text_file.hpp"

namespace trigram {

std::string missing_in_catalogue(const std::filesystem::path& tree, const std::string& algorithm) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(tree / "algorithms" / (algorithm + ".cpp"), none)) return {};
  const std::optional<std::string> catalogue = read_text(tree / "algorithms" / "README.md");
  if (!catalogue) return {};
  std::string missing;
  if (catalogue->find("\n| `" + algorithm + "`") == std::string::npos) missing = "row in the table of options";
  if (catalogue->find("\n## " + algorithm + "\n") == std::string::npos)
    missing += missing.empty() ? "section" : " and no section";
  return missing.empty() ? "" : "algorithms/README.md has no " + missing + " for '" + algorithm + "' yet\n";
}

}  // namespace trigram
