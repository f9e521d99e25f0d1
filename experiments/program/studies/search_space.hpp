// What a search may change of a run: a file of flags, each with what it may be.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "experiments/settings/settings.hpp"

namespace trigram {

/// Both ends as they were written, "1MiB" and "100MiB" as 1 and 100 of unit "MiB".
struct ChoiceRange {
  double low = 0, high = 0;
  std::string unit;    ///< behind the number; empty for a number alone
  bool whole = false;  ///< whole numbers only
  bool log = false;    ///< even in the logarithm
};

/// One flag of `trigram run`, or "FLAG.PARAMETER" inside its value.
struct Choice {
  std::string key;
  std::string place;                ///< "FILE:LINE: ", for messages
  Settings when;                    ///< the one flag and the value under which it is chosen at all; empty: always
  std::vector<std::string> values;  ///< what it may be; empty where `range` says it
  std::optional<ChoiceRange> range;

  /// Texts that it may have: all values, or both ends of the range.
  std::vector<std::string> examples() const;
};

/// Reads "FLAG = VALUE VALUE …" and "FLAG = LOW..HIGH" (whole numbers where both ends are; with " log" behind, even in
/// the logarithm), above all sections or below "[FLAG.VALUE]": where FLAG, a choice itself, is VALUE. Throws UsageError
/// naming file and line.
std::vector<Choice> read_search_space(const std::filesystem::path& path);

/// As the searching script reads it.
nlohmann::json choice_facts(const Choice& choice);

}  // namespace trigram
