// Configuration files: "[section]" and "key = value" lines with '#' comments, with the line of every entry.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace trigram {

/// One "key = value" line, or the "[section]" above it.
struct ConfigEntry {
  std::string section;  ///< empty before the first section
  std::string key;      ///< empty for the section's own line
  std::string value;
  int line = 0;  ///< counts from 1
};

/// All entries in the order of the file. Throws UsageError naming the file, and the line of what is no entry, no UTF-8,
/// or a section or key that was there before; an empty file is none either.
std::vector<ConfigEntry> read_config_file(const std::filesystem::path& path);

/// "FILE:LINE: ", for messages about one entry.
std::string place_of(const std::filesystem::path& path, const ConfigEntry& entry);

/// What the first comment of a file says: its purpose, for lists. Empty where the file does not open with one.
std::string opening_comment(const std::filesystem::path& path);

}  // namespace trigram
