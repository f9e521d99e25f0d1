#include "core/values/uncertain_value.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/values/error.hpp"
#include "core/values/quoted.hpp"
#include "core/values/units.hpp"

namespace trigram {
namespace {

struct Base {
  Unit unit;
  const char* name;
};
constexpr std::array bases{Base{Unit::seconds, "s"}, Base{Unit::bytes, "B"}, Base{Unit::bytes_per_second, "B/s"},
                           Base{Unit::flops, "FLOPS"}};

/// Numbers of one kind, in its base unit.
struct Numbers {
  double value, least, most;
  std::string unit;  ///< of the base; empty for bare numbers
  bool whole;        ///< all three are whole, and so is what lies between them
};

std::optional<Numbers> in(const UncertainValue& of, const Base& base) {
  try {
    const auto number = [&](const std::string& text) { return parse_quantity(text, base.unit); };
    return Numbers{number(of.value), number(of.least), number(of.most), base.name, base.unit == Unit::bytes};
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

std::optional<Numbers> bare(const UncertainValue& of) {
  const auto value = finite_number(of.value), least = finite_number(of.least), most = finite_number(of.most);
  if (!value || !least || !most) return std::nullopt;
  const auto whole = [](const std::string& text) { return whole_number(text).has_value(); };
  return Numbers{*value, *least, *most, "", whole(of.value) && whole(of.least) && whole(of.most)};
}

std::optional<Numbers> numbers_of(const UncertainValue& of) {
  if (const auto found = bare(of)) return found;
  for (const Base& base : bases) {
    if (const auto found = in(of, base)) return found;
  }
  return std::nullopt;
}

/// Of a range that was read before.
Numbers known_numbers(const UncertainValue& value) {
  const std::optional<Numbers> numbers = numbers_of(value);
  ensure(numbers.has_value(), "a range of nothing");
  return *numbers;
}

double number_at(const Numbers& numbers, double u) {
  const double end = u < 0.5 ? numbers.least : numbers.most, way = std::abs(2 * u - 1);
  const bool by_factor = numbers.value > 0 && end > 0;
  const double drawn =
      by_factor ? numbers.value * std::pow(end / numbers.value, way) : numbers.value + (end - numbers.value) * way;
  return numbers.whole ? std::round(drawn) : drawn;
}

/// Whether it can be a quantity, and is no product with parameters, whose own values may have ranges.
bool is_word(const std::string& text) { return !text.empty() && text.find_first_of(" :=,()") == std::string::npos; }

}  // namespace

std::optional<UncertainValue> uncertain_value(const std::string& text) {
  const std::string between = " in ";
  const std::size_t in = text.find(between), dots = text.find("..", in == std::string::npos ? 0 : in);
  if (in == std::string::npos || dots == std::string::npos) return std::nullopt;
  const std::size_t least = in + between.size();
  const UncertainValue found{text.substr(0, in), text.substr(least, dots - least), text.substr(dots + 2)};
  if (!is_word(found.value) || !is_word(found.least) || !is_word(found.most)) return std::nullopt;
  const std::optional<Numbers> numbers = numbers_of(found);
  require(numbers.has_value(), Quoted(text),
          " has no range: write VALUE in LEAST..MOST, all of one kind, as 25us in "
          "15us..60us");
  require(numbers->least <= numbers->value && numbers->value <= numbers->most && numbers->least < numbers->most,
          Quoted(text), " does not lie in its range; write the least first, and a value between both ends");
  return found;
}

std::string without_range(const std::string& text) {
  const std::optional<UncertainValue> found = uncertain_value(text);
  return found ? found->value : text;
}

std::string at_quantile(const UncertainValue& value, double u) {
  const Numbers numbers = known_numbers(value);
  return number_text(number_at(numbers, u)) + numbers.unit;
}

double move_at(const UncertainValue& value, double u) {
  const Numbers numbers = known_numbers(value);
  const auto way = [&](double to) { return numbers.least > 0 ? std::log(to / numbers.value) : to - numbers.value; };
  return way(number_at(numbers, u)) / std::max(-way(numbers.least), way(numbers.most));
}

}  // namespace trigram
