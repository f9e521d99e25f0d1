// Reads configuration files with Boost.Program_options, which gives values; a scan of the lines gives places.
#include "experiments/config_file.hpp"

#include <boost/program_options.hpp>
#include <fstream>
#include <sstream>

#include "core/error.hpp"
#include "core/quoted.hpp"

namespace trigram {
namespace {

namespace po = boost::program_options;

std::string trimmed(const std::string& text) {
  constexpr const char* blanks = " \t\r";
  const std::size_t begin = text.find_first_not_of(blanks);
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  require(file && text << file.rdbuf(), "cannot read '" + path.string() + "'");
  return text.str();
}

/// Section and line number of every line that holds an entry, in order: those of Boost's options. Sections are kept
/// apart from keys, since the names of both may contain dots.
std::vector<ConfigEntry> scan(const std::filesystem::path& path, const std::string& text) {
  std::vector<ConfigEntry> places;
  std::istringstream lines(text);
  std::string section;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    if (line.front() == '[' && line.back() == ']') {
      section = trimmed(line.substr(1, line.size() - 2));
      continue;
    }
    const ConfigEntry place{section, trimmed(line.substr(0, line.find('='))), "", number};
    require(line.find('=') != std::string::npos && !place.key.empty(), place_of(path, place), Quoted(line),
            " is no entry; write key = value, or [section]");
    places.push_back(place);
  }
  return places;
}

}  // namespace

std::string place_of(const std::filesystem::path& path, const ConfigEntry& entry) {
  return path.string() + ":" + std::to_string(entry.line) + ": ";
}

std::string opening_comment(const std::filesystem::path& path) {
  const std::string text = read_text(path);
  if (!text.starts_with('#')) return {};
  return trimmed(text.substr(1, text.find('\n') - 1));
}

std::vector<ConfigEntry> read_config_file(const std::filesystem::path& path) {
  const std::string text = read_text(path);
  std::vector<ConfigEntry> entries = scan(path, text);
  std::istringstream stream(text);
  try {
    const auto parsed = po::parse_config_file(stream, po::options_description(), /*allow_unregistered=*/true);
    ensure(parsed.options.size() == entries.size(), path.string() + ": entries and lines disagree");
    for (std::size_t i = 0; i < entries.size(); ++i) entries[i].value = parsed.options[i].value.at(0);
  } catch (const po::error& error) {
    throw UsageError(path.string() + ": " + error.what());
  }
  return entries;
}

}  // namespace trigram
