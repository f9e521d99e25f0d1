#include "experiments/study/study.hpp"

#include <algorithm>
#include <sstream>

namespace trigram {

std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream rest(text + "&");
  for (std::string part; std::getline(rest, part, '&');) parts.push_back(part);
  return parts;
}

bool names_row(const std::vector<std::string>& names, const Row& row) {
  const auto flag_is = [&](const char* flag, const std::string& name) {
    const auto found = row.settings.find(flag);
    return found != row.settings.end() && found->second.substr(0, found->second.find(':')) == name;
  };
  return std::ranges::any_of(names, [&](const std::string& name) {
    return name == row.name || name == row.series || (row.observation && name == row.observation->source) ||
           flag_is("system", name) || flag_is("algorithm", name);
  });
}

bool has_observations(const Study& study) {
  return std::ranges::any_of(study.rows, [](const Row& row) { return row.observation.has_value(); });
}

std::vector<std::string> line_keys(const Study& study) {
  std::vector<std::string> keys;
  for (std::size_t i = 1; i < study.sweep.size(); ++i) {
    if (study.sweep[i].key != "seed") keys.push_back(study.sweep[i].key);
  }
  return keys;
}

}  // namespace trigram
