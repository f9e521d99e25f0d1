#include "experiments/program/scripts/script_kinds.hpp"

#include <filesystem>
#include <fstream>
#include <vector>

#include "core/registry/registry.hpp"
#include "experiments/settings/places.hpp"

namespace trigram {

std::map<std::string, std::string> script_kinds(const std::string& folder) {
  namespace fs = std::filesystem;
  std::map<std::string, std::string> all;
  for (const fs::directory_entry& entry : fs::directory_iterator(shipped_folder(folder) / "kinds")) {
    if (entry.path().extension() != ".py") continue;
    std::ifstream file(entry.path());
    std::string line;
    std::getline(file, line);
    std::erase(line, '"');
    all.emplace(entry.path().stem().string(), line);
  }
  return all;
}

std::string listed(const std::map<std::string, std::string>& kinds) {
  std::string text;
  for (const auto& [name, summary] : kinds) text += "\n  " + name + ": " + summary;
  return text;
}

std::string known_script_kind(const std::string& folder, const std::string& what, const Settings& settings) {
  const auto given = settings.find("KIND");
  const std::map<std::string, std::string> all = script_kinds(folder);
  if (given == settings.end() || all.contains(given->second)) return given == settings.end() ? "" : given->second;
  std::vector<std::string> names;
  for (const auto& [name, summary] : all) names.push_back(name);
  throw_unknown_name(what, given->second, names);
}

}  // namespace trigram
