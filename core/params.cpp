#include "core/params.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "core/error.hpp"

namespace trigram {
namespace {

/// The end of the value that begins at `begin`: the next comma outside parentheses.
std::size_t value_end(std::string_view text, std::size_t begin, const std::string& owner) {
  int depth = 0;
  for (std::size_t i = begin; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')') --depth;
    require(depth >= 0, owner + ": ')' without '(' in '" + std::string(text) + "'");
    if (text[i] == ',' && depth == 0) return i;
  }
  require(depth == 0, owner + ": '(' is never closed in '" + std::string(text) + "'");
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

template <class Number>
bool parse_whole(const std::string& text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

std::string shortest(double value) {
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end};
}

}  // namespace

Params::Params(std::string owner, std::string_view text) : owner_(std::move(owner)) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = value_end(text, begin, owner_);
    const std::string_view item = text.substr(begin, end - begin);
    const std::size_t equals = item.find('=');
    require(equals != std::string_view::npos && equals > 0,
            owner_ + ": '" + std::string(item) + "' is no parameter; write key=value,key=value");
    const std::string key(item.substr(0, equals));
    require(values_.emplace(key, unwrapped(item.substr(equals + 1))).second, owner_ + ": '" + key + "' is given twice");
    begin = end + 1;
  }
}

const std::string* Params::find(const std::string& key, const char* type, const std::string& fallback,
                                const std::string& description) {
  const bool known = std::any_of(declared_.begin(), declared_.end(), [&](const Declared& d) { return d.key == key; });
  if (!known) declared_.push_back({key, type, fallback, description});
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

void Params::malformed(const std::string& key, const std::string& text, const std::string& wanted) const {
  throw UsageError(owner_ + ": " + key + "=" + text + " is not " + wanted);
}

bool Params::get(const std::string& key, bool fallback, const std::string& description) {
  const std::string* text = find(key, "on|off", fallback ? "on" : "off", description);
  if (text == nullptr) return fallback;
  if (*text == "on" || *text == "true" || *text == "1") return true;
  if (*text == "off" || *text == "false" || *text == "0") return false;
  malformed(key, *text, "on or off");
}

std::int64_t Params::get(const std::string& key, std::int64_t fallback, const std::string& description) {
  const std::string* text = find(key, "integer", std::to_string(fallback), description);
  std::int64_t value = fallback;
  if (text != nullptr && !parse_whole(*text, value)) malformed(key, *text, "a whole number");
  return value;
}

int Params::get(const std::string& key, int fallback, const std::string& description) {
  const std::string* text = find(key, "integer", std::to_string(fallback), description);
  int value = fallback;
  if (text != nullptr && !parse_whole(*text, value)) malformed(key, *text, "a whole number");
  return value;
}

double Params::get(const std::string& key, double fallback, const std::string& description) {
  const std::string* text = find(key, "number", shortest(fallback), description);
  double value = fallback;
  if (text != nullptr && !parse_whole(*text, value)) malformed(key, *text, "a number");
  return value;
}

std::string Params::get(const std::string& key, const char* fallback, const std::string& description) {
  const std::string* text = find(key, "text", fallback, description);
  return text == nullptr ? fallback : *text;
}

double Params::get(const std::string& key, const char* fallback, Unit unit, const std::string& description) {
  const std::string* text = find(key, "quantity", fallback, description);
  try {
    return parse_quantity(text == nullptr ? fallback : *text, unit);
  } catch (const UsageError& error) {
    throw UsageError(owner_ + ": " + key + ": " + error.what());
  }
}

void Params::reject_unknown() const {
  for (const auto& [key, value] : values_) {
    const bool known = std::any_of(declared_.begin(), declared_.end(), [&](const Declared& d) { return d.key == key; });
    if (known) continue;
    std::string message = owner_ + " has no parameter '" + key + "'";
    message += declared_.empty() ? "; it takes none" : "; it takes:";
    for (const Declared& declared : declared_) message += " " + declared.key;
    throw UsageError(message);
  }
}

Spec Spec::parse(std::string_view text) {
  const std::size_t colon = text.find(':');
  Spec spec;
  spec.name = std::string(text.substr(0, colon));
  if (colon != std::string_view::npos) spec.parameters = std::string(text.substr(colon + 1));
  require(!spec.name.empty(), "'" + std::string(text) + "' has no name; write name:key=value,key=value");
  return spec;
}

}  // namespace trigram
