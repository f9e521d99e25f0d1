// Words, numbers and grids of numbers.
#include "experiments/settings/grid.hpp"

#include <cmath>
#include <iterator>
#include <sstream>

#include "core/values/decimal.hpp"
#include "core/values/error.hpp"
#include "core/values/quoted.hpp"
#include "core/values/units.hpp"

namespace trigram {
namespace {

/// Short text of a value computed from decimal ends: 0.8 + 3·0.01 as "0.83".
std::string rounded(double value) {
  constexpr int digits = 10;
  return decimal(value, digits);
}

void expand(const std::string& word, std::vector<std::string>& values) {
  const std::size_t first_colon = word.find(':');
  const std::size_t last_colon = word.rfind(':');
  if (first_colon == std::string::npos || first_colon == last_colon) return values.push_back(word);
  const auto first = finite_number(word.substr(0, first_colon));
  const auto last = finite_number(word.substr(first_colon + 1, last_colon - first_colon - 1));
  const auto step = finite_number(word.substr(last_colon + 1));
  if (!first || !last || !step) return values.push_back(word);
  constexpr double most = 10000;
  const double steps = (*last - *first) / *step;
  require(*step > 0 && *last >= *first, Quoted(word), " is no range; write FIRST:LAST:STEP with a positive step");
  require(steps < most, Quoted(word), " has ", steps, " values; at most ", most, " can be swept");
  const auto count = static_cast<int>(std::floor(steps + 1e-9));
  for (int i = 0; i <= count; ++i) values.push_back(rounded(*first + i * *step));
}

}  // namespace

std::vector<std::string> words_in(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

double parse_number(const std::string& text) {
  const auto value = finite_number(text);
  require(value.has_value(), Quoted(text), " is not a number");
  return *value;
}

std::vector<std::string> expand_grid(const std::vector<std::string>& words) {
  std::vector<std::string> values;
  for (const std::string& word : words) expand(word, values);
  return values;
}

void require_few_sizes(double low, double high, double factor, const char* owner) {
  constexpr double most = 1000;
  const double steps = std::log(high / low) / std::log(factor);
  require(steps < most, owner, ": factor=", factor, " makes ", std::floor(steps) + 1, " sizes; at most ", most,
          " are measured");
}

}  // namespace trigram
