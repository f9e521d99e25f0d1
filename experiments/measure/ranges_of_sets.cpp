#include "experiments/measure/ranges_of_sets.hpp"

#include <array>
#include <map>
#include <optional>
#include <sstream>

#include "core/values/error.hpp"
#include "core/values/units.hpp"

namespace trigram {
namespace {

/// A line "key = value"; nothing for comments and blank ones.
std::optional<std::pair<std::string, std::string>> key_and_value(const std::string& line) {
  const std::size_t sign = line.find(" = ");
  if (line.starts_with('#') || sign == std::string::npos) return std::nullopt;
  return std::pair(line.substr(0, sign), line.substr(sign + 3));
}

std::optional<double> in_base_unit(const std::string& text) {
  if (const auto bare = finite_number(text)) return bare;
  for (const Unit unit : std::array{Unit::seconds, Unit::bytes, Unit::bytes_per_second, Unit::flops}) {
    try {
      return parse_quantity(text, unit);
    } catch (const UsageError&) {
      continue;
    }
  }
  return std::nullopt;
}

/// Texts by what they are worth: the first is the least, the last the most.
using Values = std::map<double, std::string>;

/// "2us in 1us..3us", or what `value` is where that has no range.
std::string ranged(const std::string& value, Values values) {
  const std::optional<double> own = in_base_unit(value);
  if (!own) return value;
  values.emplace(*own, value);
  if (values.size() < 2) return value;
  return value + " in " + values.begin()->second + ".." + values.rbegin()->second;
}

}  // namespace

std::string with_ranges(const std::string& file, const std::vector<std::string>& sets) {
  std::map<std::string, Values> all;
  std::string line;
  for (const std::string& set : sets) {
    for (std::istringstream text(set); std::getline(text, line);) {
      const auto found = key_and_value(line);
      const auto value = found ? in_base_unit(found->second) : std::nullopt;
      if (value) all[found->first].emplace(*value, found->second);
    }
  }
  std::string result;
  for (std::istringstream text(file); std::getline(text, line);) {
    const auto found = key_and_value(line);
    result += (found ? found->first + " = " + ranged(found->second, all[found->first]) : line) + "\n";
  }
  return result;
}

}  // namespace trigram
