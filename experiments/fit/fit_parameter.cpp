// Parameters to be fitted, and the ranges that physics and products leave them.
#include "experiments/fit/fit_parameter.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/registry/spelling.hpp"
#include "core/training/backend.hpp"
#include "core/values/error.hpp"
#include "core/values/located.hpp"
#include "core/values/quoted.hpp"

namespace trigram {
namespace {

struct KnownRange {
  const char *key, *least, *most;
};

/// From what networks, hosts and GPUs are sold with or measured at, to an order of magnitude beyond.
constexpr std::array known_ranges{
    KnownRange{"nic_bandwidth", "10Mbps", "3.2Tbps"}, KnownRange{"nic_efficiency", "0.1", "1"},
    KnownRange{"nic_cap", "10Mbps", "3.2Tbps"},       KnownRange{"nic_latency", "200ns", "100ms"},
    KnownRange{"nic_window", "4KiB", "1GiB"},         KnownRange{"connection_cap", "10Mbps", "3.2Tbps"},
    KnownRange{"message_overhead", "10ns", "10ms"},   KnownRange{"call_overhead", "10ns", "100ms"},
    KnownRange{"step_overhead", "1us", "1s"},         KnownRange{"node_bandwidth", "100MB/s", "2TB/s"},
    KnownRange{"node_efficiency", "0.1", "1"},        KnownRange{"node_latency", "100ns", "1ms"},
    KnownRange{"core_latency", "100ns", "10ms"},      KnownRange{"oversubscription", "1", "64"},
    KnownRange{"gpu_flops", "1GFLOPS", "10PFLOPS"},   KnownRange{"gpu_memory_bandwidth", "1GB/s", "20TB/s"},
    KnownRange{"kernel_launch", "100ns", "1ms"}};

constexpr std::array fitted_units{Unit::bytes, Unit::seconds, Unit::bytes_per_second, Unit::flops};

std::optional<double> read_as(const std::string& text, std::optional<Unit> unit) {
  if (!unit) return finite_number(text);
  try {
    return parse_quantity(text, *unit);
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

/// The one that all are written in; nothing for plain numbers.
std::optional<Unit> unit_of(const std::vector<std::string>& texts) {
  std::vector<std::optional<Unit>> all{std::nullopt};
  all.insert(all.end(), fitted_units.begin(), fitted_units.end());
  for (const std::optional<Unit> unit : all) {
    if (std::ranges::all_of(texts, [&](const std::string& text) { return read_as(text, unit).has_value(); }))
      return unit;
  }
  throw UsageError("what is fitted must be numbers, or quantities of one unit");
}

const char* base_of(Unit unit) {
  switch (unit) {
    case Unit::seconds:
      return "s";
    case Unit::bytes_per_second:
      return "B/s";
    case Unit::flops:
      return "FLOPS";
    default:
      return "B";
  }
}

std::vector<std::string> at_commas(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char letter : text) {
    if (letter == ',') {
      words.emplace_back();
    } else if (letter != ' ') {
      words.back() += letter;
    }
  }
  return words;
}

void require_number_of_a_cluster(const std::string& key) {
  const std::vector<Params::Declared> declared = Backends::parameters("sim");
  std::vector<std::string> numbers;
  for (const Params::Declared& one : declared) {
    if (one.type == "number" || one.type == "quantity") numbers.push_back(one.key);
  }
  require(std::ranges::find(numbers, key) != numbers.end(), Quoted(key), did_you_mean(key, numbers),
          " is no number of a cluster that can be fitted (trigram list backends shows them)");
}

FitParameter read_one(const std::string& text) {
  const std::string key = text.substr(0, text.find('='));
  require_number_of_a_cluster(key);
  if (key != text) {
    const std::string range = text.substr(key.size() + 1);
    const std::size_t colon = range.find(':');
    require(colon != std::string::npos, Quoted(text), " has no range; write ", shown(key), "=LEAST:MOST");
    return FitParameter(key, range.substr(0, colon), range.substr(colon + 1));
  }
  const auto known = std::ranges::find_if(known_ranges, [&](const KnownRange& one) { return one.key == key; });
  require(known != known_ranges.end(), "no physical range of ", Quoted(key), " is known; give one: ", shown(key),
          "=LEAST:MOST");
  return FitParameter(key, known->least, known->most);
}

}  // namespace

FitParameter::FitParameter(std::string key, const std::string& least, const std::string& most) : key_(std::move(key)) {
  const auto place = [&] { return shown(key_) + " from " + in_quotes(least) + " to " + in_quotes(most) + ": "; };
  unit_ = located(place, [&] { return unit_of({least, most}); });
  least_ = *read_as(least, unit_);
  most_ = *read_as(most, unit_);
  require(least_ < most_, place, "the first end is not below the second");
  require(least_ >= 0, place, "nothing that is fitted is below 0");
  constexpr double far = 10;
  logarithmic_ = least_ > 0 && most_ > far * least_;
}

FitParameter FitParameter::spanning(const std::string& key, const std::vector<std::string>& values) {
  const std::optional<Unit> unit = located(shown(key) + ": ", [&] { return unit_of(values); });
  const auto [least, most] =
      std::ranges::minmax_element(values, {}, [&](const auto& text) { return *read_as(text, unit); });
  return FitParameter(key, *least, *most);
}

double FitParameter::value(double place) const {
  const double inside = std::clamp(place, 0.0, 1.0);
  if (inside == 0) return least_;
  if (inside == 1) return most_;
  return logarithmic_ ? least_ * std::pow(most_ / least_, inside) : least_ + (most_ - least_) * inside;
}

double FitParameter::place_of(double value) const {
  const double inside = std::clamp(value, least_, most_);
  return logarithmic_ ? std::log(inside / least_) / std::log(most_ / least_) : (inside - least_) / (most_ - least_);
}

std::string FitParameter::text(double place) const {
  return number_text(value(place)) + (unit_ ? base_of(*unit_) : "");
}

std::string FitParameter::rounded(double place) const {
  if (unit_) return format_quantity(value(place), *unit_);
  constexpr double digits = 4;
  const double exact = value(place);
  if (exact == 0) return "0";
  const double scale = std::pow(10, digits - 1 - std::floor(std::log10(exact)));
  return number_text(std::round(exact * scale) / scale);
}

std::optional<double> FitParameter::place_of_text(const std::string& text) const {
  const std::optional<double> number = read_as(text, unit_);
  if (!number || *number < least_ || *number > most_) return std::nullopt;
  return place_of(*number);
}

std::vector<FitParameter> read_fit_parameters(const std::string& text) {
  std::vector<FitParameter> all;
  for (const std::string& word : at_commas(text)) {
    const FitParameter one = located("--fit: ", [&] { return read_one(word); });
    for (const FitParameter& other : all) require(other.key() != one.key(), "--fit: ", one.key(), " is given twice");
    all.push_back(one);
  }
  return all;
}

}  // namespace trigram
