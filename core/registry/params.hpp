// Named, typed parameters of a product: "name:key=value,key=value". Reading a parameter declares it.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/values/units.hpp"

namespace trigram {

/// What a number may be, both ends included; without ends, whatever the type holds.
template <class Number>
struct Range {
  Number least = std::numeric_limits<Number>::lowest();
  Number most = std::numeric_limits<Number>::max();

  bool contains(Number value) const { return value >= least && value <= most; }
};

/// The values a user gave and the parameters that the product declared by reading them. A product reads every
/// parameter in its constructor; whoever made it then calls `reject_unknown`.
class Params {
 public:
  /// One declared parameter, as `trigram list` prints it.
  struct Declared {
    std::string key;
    std::string type;
    std::string fallback;
    std::string description;
    std::string group = "";  ///< what help shows it below, where it shows groups
  };

  Params() = default;
  /// Parses "key=value,key=value"; a value may be in parentheses, up to 32 deep, so that it can hold commas itself.
  /// `owner` is what error messages name, as "algorithm 'qsgd'". Throws UsageError on anything malformed.
  Params(std::string owner, std::string_view text);

  void set(const std::string& key, const std::string& value) { values_[key] = value; }
  /// Presets defaults other than the product's own, as "key=value,…": a given value wins over them, and so does an
  /// earlier preset. Throws UsageError on anything malformed.
  void presume(std::string_view defaults);
  /// Given and preset values, as "key=value,…" in the order of keys.
  std::string text() const;
  bool has(const std::string& key) const { return values_.contains(key); }
  const std::map<std::string, std::string>& values() const { return values_; }
  const std::string& owner() const { return owner_; }

  /// Those that are declared from now on belong to this group, as "where it runs".
  Params& in_group(const std::string& title) {
    group_ = title;
    return *this;
  }

  /// The value of `key`, or `fallback`. Throws UsageError when the text is not of the type or leaves the range. Whole
  /// numbers are written as `whole_number` says; infinities and NaN are no numbers.
  bool get(const std::string& key, bool fallback, const std::string& description);
  std::int64_t get(const std::string& key, std::int64_t fallback, const std::string& description,
                   Range<std::int64_t> range = {});
  int get(const std::string& key, int fallback, const std::string& description, Range<int> range = {});
  double get(const std::string& key, double fallback, const std::string& description, Range<double> range = {});
  std::string get(const std::string& key, const char* fallback, const std::string& description);
  /// A value with a unit, in that unit's base.
  double get(const std::string& key, const char* fallback, Unit unit, const std::string& description,
             Range<double> range = {});

  /// Throws UsageError for the first given key that nobody declared, naming those that exist.
  void reject_unknown() const;
  const std::vector<Declared>& declared() const { return declared_; }

 private:
  const std::string* find(const std::string& key, const char* type, const std::string& fallback,
                          const std::string& description);
  template <class Number>
  Number whole(const std::string& key, Number fallback, const std::string& description, Range<Number> range);
  [[noreturn]] void malformed(const std::string& key, const std::string& text, const std::string& wanted) const;

  std::string owner_ = "parameters";
  std::map<std::string, std::string> values_;
  std::map<std::string, std::string> presumed_;
  std::vector<Declared> declared_;
  std::string group_;
};

/// "key=value", with parentheses around a value that holds commas or parentheses.
std::string parameter_text(const std::string& key, const std::string& value);

/// A product's name and parameters, from "name" or "name:key=value,…".
struct Spec {
  std::string name;
  std::string parameters;
  static Spec parse(std::string_view text);
};

}  // namespace trigram
