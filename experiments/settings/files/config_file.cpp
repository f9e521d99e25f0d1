// Reads configuration files with Boost.Program_options, which gives values; a scan of the lines gives places.
#include "experiments/settings/files/config_file.hpp"

#include <boost/program_options.hpp>
#include <map>
#include <sstream>
#include <utility>

#include "core/values/error.hpp"
#include "core/values/quoted.hpp"
#include "experiments/settings/files/text_file.hpp"
#include "experiments/settings/files/utf8.hpp"
#include "experiments/workloads/data/separated.hpp"

namespace trigram {
namespace {

namespace po = boost::program_options;

/// What stood before, by section and key, with its line; throws where it is there again.
class Seen {
 public:
  void add(const std::filesystem::path& path, const ConfigEntry& entry) {
    const auto [first, is_new] = lines_.emplace(std::pair(entry.section, entry.key), entry.line);
    const std::string what = entry.key.empty() ? "[" + shown(entry.section) + "]" : in_quotes(entry.key);
    require(is_new, place_of(path, entry), what, " is given twice; first in line ", first->second);
  }

 private:
  std::map<std::pair<std::string, std::string>, int> lines_;
};

/// Section and line number of every line that holds a section or an entry, in order: those of Boost's options. Sections
/// are kept apart from keys, since the names of both may contain dots.
std::vector<ConfigEntry> scan(const std::filesystem::path& path, const std::string& text) {
  std::vector<ConfigEntry> places;
  std::istringstream lines(text);
  std::string section;
  Seen seen;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    require_utf8(line, path.string() + ":" + std::to_string(number));
    line = std::string(trimmed(line.substr(0, line.find('#'))));
    if (line.empty()) continue;
    if (line.front() == '[' && line.back() == ']') {
      section = trimmed(line.substr(1, line.size() - 2));
      places.push_back({section, "", "", number});
      seen.add(path, places.back());
      continue;
    }
    const ConfigEntry place{section, std::string(trimmed(line.substr(0, line.find('=')))), "", number};
    require(line.find('=') != std::string::npos && !place.key.empty(), place_of(path, place), Quoted(line),
            " is no entry; write key = value, or [section]");
    places.push_back(place);
    seen.add(path, place);
  }
  require(!places.empty(), Quoted(path.native()), " is empty: it has no line key = value");
  return places;
}

}  // namespace

std::string place_of(const std::filesystem::path& path, const ConfigEntry& entry) {
  return path.string() + ":" + std::to_string(entry.line) + ": ";
}

std::string opening_comment(const std::filesystem::path& path) {
  const std::string text = text_by_hand(path, "a list of settings");
  if (!text.starts_with('#')) return {};
  return std::string(trimmed(text.substr(1, text.find('\n') - 1)));
}

std::vector<ConfigEntry> read_config_file(const std::filesystem::path& path) {
  std::error_code missing;
  require(!std::filesystem::exists(path, missing) || std::filesystem::is_regular_file(path, missing),
          Quoted(path.native()), " is no regular file");
  const std::string text = text_by_hand(path, "a list of settings");
  std::vector<ConfigEntry> entries = scan(path, text);
  std::istringstream stream(text);
  try {
    const auto parsed = po::parse_config_file(stream, po::options_description(), /*allow_unregistered=*/true);
    auto option = parsed.options.begin();
    for (ConfigEntry& entry : entries) {
      if (entry.key.empty()) continue;
      ensure(option != parsed.options.end(), path.string() + ": entries and lines disagree");
      entry.value = (option++)->value.at(0);
    }
  } catch (const po::error& error) {
    throw UsageError(path.string() + ": " + error.what());
  }
  return entries;
}

}  // namespace trigram
