#include "core/registry/params.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/registry/spelling.hpp"
#include "core/values/error.hpp"
#include "core/values/located.hpp"
#include "core/values/quoted.hpp"

namespace trigram {
namespace {

constexpr int deepest_nesting = 32;

/// The end of the value that begins at `begin`: the next comma outside parentheses.
std::size_t value_end(std::string_view text, std::size_t begin, const std::string& owner) {
  int depth = 0;
  for (std::size_t i = begin; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')') --depth;
    require(depth >= 0, owner, ": ')' without '(' in ", Quoted(text));
    require(depth <= deepest_nesting, owner, ": more than ", deepest_nesting, " parentheses are inside each other in ",
            Quoted(text));
    if (text[i] == ',' && depth == 0) return i;
  }
  require(depth == 0, owner, ": '(' is never closed in ", Quoted(text));
  return text.size();
}

/// "(a)" is a, when the first parenthesis closes at the end.
std::string unwrapped(std::string_view value) {
  int depth = 0;
  for (std::size_t i = 0; i < value.size(); ++i) {
    depth += value[i] == '(' ? 1 : value[i] == ')' ? -1 : 0;
    if (depth == 0 && i + 1 < value.size()) return std::string(value);
  }
  return value.starts_with('(') ? std::string(value.substr(1, value.size() - 2)) : std::string(value);
}

/// "1,000,000" after a comma that no parentheses protect: what the number's first digits were is still at hand.
bool is_rest_of_number(std::string_view item) {
  return !item.empty() && item.find_first_not_of("0123456789") == std::string_view::npos;
}

/// " from 1 to 32767", " of 1 or more", or nothing for all that there are.
template <class Number, class Text>
std::string words_for(const Range<Number>& range, const Text& text) {
  const Range<Number> all;
  if (range.least == all.least && range.most == all.most) return "";
  if (range.most == all.most) return " of " + text(range.least) + " or more";
  return " from " + text(range.least) + " to " + text(range.most);
}

}  // namespace

Params::Params(std::string owner, std::string_view text) : owner_(std::move(owner)) {
  for (std::size_t begin = 0, before = 0; begin < text.size();) {
    const std::size_t end = value_end(text, begin, owner_);
    const std::string_view item = text.substr(begin, end - begin);
    const std::size_t equals = item.find('=');
    require(
        equals != std::string_view::npos && equals > 0, owner_, ": ", Quoted(item),
        [&] { return begin > 0 ? " in " + in_quotes(text.substr(before)) : std::string(); }, " is no parameter; ",
        is_rest_of_number(item) && begin > 0 ? "put a number with commas in parentheses: (1,000)"
                                             : "write key=value,key=value");
    const std::string key(item.substr(0, equals));
    require(values_.emplace(key, unwrapped(item.substr(equals + 1))).second, owner_, ": ", Quoted(key),
            " is given twice");
    before = begin;
    begin = end + 1;
  }
}

void Params::presume(std::string_view defaults) {
  for (const auto& [key, value] : Params(owner_, defaults).values_) {
    presumed_.emplace(key, value);
    values_.emplace(key, value);
  }
}

std::string Params::text() const {
  std::string text;
  for (const auto& [key, value] : values_) text += (text.empty() ? "" : ",") + parameter_text(key, value);
  return text;
}

std::string parameter_text(const std::string& key, const std::string& value) {
  const bool plain = value.find_first_of(",()") == std::string::npos;
  return key + "=" + (plain ? value : "(" + value + ")");
}

const std::string* Params::find(const std::string& key, const char* type, const std::string& fallback,
                                const std::string& description) {
  const bool known = std::any_of(declared_.begin(), declared_.end(), [&](const Declared& d) { return d.key == key; });
  const auto presumed = presumed_.find(key);
  // A run has some sixty, which are declared anew for each of a study: they should not be moved at every doubling.
  constexpr std::size_t few = 8, many = 128;
  if (declared_.size() == declared_.capacity() && declared_.size() < many)
    declared_.reserve(declared_.size() < few ? few : many);
  if (!known)
    declared_.push_back({key, type, presumed == presumed_.end() ? fallback : presumed->second, description, group_});
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

void Params::malformed(const std::string& key, const std::string& text, const std::string& wanted) const {
  throw UsageError(owner_ + ": " + key + "=" + shown(text) + " is not " + wanted);
}

bool Params::get(const std::string& key, bool fallback, const std::string& description) {
  const std::string* text = find(key, "on|off", fallback ? "on" : "off", description);
  if (text == nullptr) return fallback;
  if (*text == "on" || *text == "true" || *text == "1") return true;
  if (*text == "off" || *text == "false" || *text == "0") return false;
  malformed(key, *text, "on or off");
}

template <class Number>
Number Params::whole(const std::string& key, Number fallback, const std::string& description, Range<Number> range) {
  const std::string* text = find(key, "integer", std::to_string(fallback), description);
  if (text == nullptr) return fallback;
  const std::optional<std::int64_t> value = whole_number(*text);
  if (!value)
    malformed(key, *text, "a whole number" + words_for(range, number_text<Number>) + ", as 1000, 1,000 or 1k");
  if (!std::in_range<Number>(*value) || !range.contains(static_cast<Number>(*value)))
    malformed(key, *text, "a whole number" + words_for(range, number_text<Number>));
  return static_cast<Number>(*value);
}

std::int64_t Params::get(const std::string& key, std::int64_t fallback, const std::string& description,
                         Range<std::int64_t> range) {
  return whole(key, fallback, description, range);
}

int Params::get(const std::string& key, int fallback, const std::string& description, Range<int> range) {
  return whole(key, fallback, description, range);
}

double Params::get(const std::string& key, double fallback, const std::string& description, Range<double> range) {
  const std::string* text = find(key, "number", number_text(fallback), description);
  if (text == nullptr) return fallback;
  const std::optional<double> value = finite_number(*text);
  if (!value || !range.contains(*value)) malformed(key, *text, "a number" + words_for(range, number_text<double>));
  return *value;
}

std::string Params::get(const std::string& key, const char* fallback, const std::string& description) {
  const std::string* text = find(key, "text", fallback, description);
  return text == nullptr ? fallback : *text;
}

double Params::get(const std::string& key, const char* fallback, Unit unit, const std::string& description,
                   Range<double> range) {
  const std::string* text = find(key, "quantity", fallback, description);
  const double value = located([&] { return owner_ + ": " + key + ": "; },
                               [&] { return parse_quantity(text == nullptr ? fallback : *text, unit); });
  if (!range.contains(value)) {
    malformed(key, text == nullptr ? fallback : *text,
              "a quantity" + words_for(range, [&](double end) { return format_quantity(end, unit); }));
  }
  return value;
}

void Params::reject_unknown() const {
  for (const auto& [key, value] : values_) {
    const bool known = std::any_of(declared_.begin(), declared_.end(), [&](const Declared& d) { return d.key == key; });
    if (known) continue;
    std::vector<std::string> takes;
    for (const Declared& declared : declared_) takes.push_back(declared.key);
    std::string message = owner_ + " has no parameter " + in_quotes(key) + did_you_mean(key, takes);
    message += takes.empty() ? "; it takes none" : "; it takes:";
    for (const std::string& name : takes) message += " " + name;
    throw UsageError(message);
  }
}

Spec Spec::parse(std::string_view text) {
  const std::size_t colon = text.find(':');
  Spec spec;
  spec.name = std::string(text.substr(0, colon));
  if (colon != std::string_view::npos) spec.parameters = std::string(text.substr(colon + 1));
  return spec;
}

}  // namespace trigram
