#include "core/values/units.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <span>

#include "core/values/error.hpp"
#include "core/values/quoted.hpp"

namespace trigram {
namespace {

struct Suffix {
  std::string_view text;
  double factor;
};

// Those with which quantities are written, before others that are read.
constexpr std::array byte_suffixes{Suffix{"B", 1},           Suffix{"kB", 1e3},           Suffix{"MB", 1e6},
                                   Suffix{"GB", 1e9},        Suffix{"TB", 1e12},          Suffix{"KiB", 1024},
                                   Suffix{"MiB", 1048576.0}, Suffix{"GiB", 1073741824.0}, Suffix{"TiB", 0x1p40}};
constexpr std::array second_suffixes{Suffix{"s", 1}, Suffix{"ms", 1e-3}, Suffix{"us", 1e-6}, Suffix{"ns", 1e-9}};
constexpr std::array rate_suffixes{Suffix{"bps", 0.125}, Suffix{"kbps", 125}, Suffix{"Mbps", 125e3},
                                   Suffix{"Gbps", 125e6}, Suffix{"Tbps", 125e9}};
constexpr std::array flops_suffixes{Suffix{"FLOPS", 1}, Suffix{"MFLOPS", 1e6}, Suffix{"GFLOPS", 1e9},
                                    Suffix{"TFLOPS", 1e12}, Suffix{"PFLOPS", 1e15}};
constexpr std::array watt_suffixes{Suffix{"W", 1}, Suffix{"mW", 1e-3}, Suffix{"kW", 1e3}, Suffix{"MW", 1e6}};
constexpr std::array joule_suffixes{Suffix{"J/B", 1}, Suffix{"mJ/B", 1e-3}, Suffix{"uJ/B", 1e-6}, Suffix{"nJ/B", 1e-9},
                                    Suffix{"pJ/B", 1e-12}};
constexpr std::array price_of_time_suffixes{Suffix{"USD/h", 1 / 3600.0}};
constexpr std::array price_of_bytes_suffixes{Suffix{"USD/GB", 1e-9}};

constexpr std::array more_message_suffixes{Suffix{"", 1},       Suffix{"K", 1024}, Suffix{"M", 1048576.0},
                                           Suffix{"G", 0x1p30}, Suffix{"k", 1024}, Suffix{"m", 1048576.0},
                                           Suffix{"g", 0x1p30}};
constexpr std::array more_second_suffixes{Suffix{"min", 60}, Suffix{"h", 3600}, Suffix{"\u00b5s", 1e-6},
                                          Suffix{"\u03bcs", 1e-6}};
constexpr std::array more_rate_suffixes{
    Suffix{"Bps", 1},        Suffix{"kBps", 1e3},     Suffix{"MBps", 1e6},   Suffix{"GBps", 1e9},
    Suffix{"TBps", 1e12},    Suffix{"B/s", 1},        Suffix{"kB/s", 1e3},   Suffix{"MB/s", 1e6},
    Suffix{"GB/s", 1e9},     Suffix{"TB/s", 1e12},    Suffix{"KiB/s", 1024}, Suffix{"MiB/s", 1048576.0},
    Suffix{"GiB/s", 0x1p30}, Suffix{"bit/s", 0.125},  Suffix{"kbit/s", 125}, Suffix{"Mbit/s", 125e3},
    Suffix{"Gbit/s", 125e6}, Suffix{"Tbit/s", 125e9}, Suffix{"b/s", 0.125},  Suffix{"kb/s", 125},
    Suffix{"Mb/s", 125e3},   Suffix{"Gb/s", 125e6},   Suffix{"Tb/s", 125e9}};
constexpr std::array more_flops_suffixes{Suffix{"FLOP/s", 1}, Suffix{"MFLOP/s", 1e6}, Suffix{"GFLOP/s", 1e9},
                                         Suffix{"TFLOP/s", 1e12}, Suffix{"PFLOP/s", 1e15}};
constexpr std::array more_joule_suffixes{Suffix{"J/GB", 1e-9}, Suffix{"J/bit", 8}, Suffix{"nJ/bit", 8e-9},
                                         Suffix{"pJ/bit", 8e-12}};
constexpr std::array more_price_of_time_suffixes{Suffix{"USD/s", 1}};
constexpr std::array more_price_of_bytes_suffixes{Suffix{"USD/TB", 1e-12}, Suffix{"USD/MB", 1e-6},
                                                  Suffix{"USD/GiB", 0x1p-30}};

struct Written {
  std::span<const Suffix> first, more;
  double most;  ///< beyond any machine, and short of what arithmetic on times and sizes can bear
};

Written written(Unit unit) {
  switch (unit) {
    case Unit::bytes:
      return {byte_suffixes, {}, 0x1p60};
    case Unit::message_bytes:
      return {byte_suffixes, more_message_suffixes, 0x1p60};
    case Unit::seconds:
      return {second_suffixes, more_second_suffixes, 1e9};
    case Unit::bytes_per_second:
      return {rate_suffixes, more_rate_suffixes, 1e18};
    case Unit::flops:
      return {flops_suffixes, more_flops_suffixes, 1e24};
    case Unit::watts:
      return {watt_suffixes, {}, 1e9};
    case Unit::joules_per_byte:
      return {joule_suffixes, more_joule_suffixes, 1};
    case Unit::dollars_per_second:
      return {price_of_time_suffixes, more_price_of_time_suffixes, 1e6};
    case Unit::dollars_per_byte:
      return {price_of_bytes_suffixes, more_price_of_bytes_suffixes, 1};
  }
  throw Error("not a unit");
}

[[noreturn]] void malformed(std::string_view text, Unit unit) {
  std::string message = in_quotes(text) + " is no quantity here; write a number that is not negative with one of:";
  for (const auto suffixes : {written(unit).first, written(unit).more}) {
    for (const Suffix& suffix : suffixes) message += suffix.text.empty() ? "" : " " + std::string(suffix.text);
  }
  throw UsageError(message);
}

/// Digits without the commas between groups of three; nullopt where commas stand elsewhere.
std::optional<std::string> ungrouped(std::string_view text) {
  std::string digits(text);
  if (text.find(',') == std::string_view::npos) return digits;
  if (text.starts_with('-')) text.remove_prefix(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool comma = (text.size() - i) % 4 == 0;
    if (comma ? text[i] != ',' || i == 0 : text[i] < '0' || text[i] > '9') return std::nullopt;
  }
  std::erase(digits, ',');
  return digits;
}

template <class Number>
std::optional<Number> all_of(std::string_view text) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

double parse_quantity(std::string_view text, Unit unit) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !std::isfinite(number) || number < 0) malformed(text, unit);
  std::string_view suffix(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (suffix.empty() && number == 0) return 0;
  if (suffix.starts_with(' ')) suffix.remove_prefix(1);
  const Written known = written(unit);
  for (const auto suffixes : {known.first, known.more}) {
    const auto found =
        std::find_if(suffixes.begin(), suffixes.end(), [&](const Suffix& s) { return s.text == suffix; });
    if (found == suffixes.end()) continue;
    const double value = number * found->factor;
    require(
        value <= known.most, Quoted(text), " is more than ", [&] { return format_quantity(known.most, unit); },
        ", the most that can be asked for");
    return value;
  }
  malformed(text, unit);
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  constexpr double exact = 0x1p53;
  if (const auto plain = all_of<std::int64_t>(text)) return plain;
  double factor = 1;
  if (!text.empty()) factor = text.back() == 'k' ? 1e3 : text.back() == 'M' ? 1e6 : text.back() == 'G' ? 1e9 : 1;
  if (factor != 1) text.remove_suffix(1);
  const auto digits = ungrouped(text);
  const auto number = digits ? finite_number(*digits) : std::nullopt;
  if (!number) return std::nullopt;
  const double value = *number * factor;
  if (std::abs(value) > exact || value != std::floor(value)) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

std::optional<double> finite_number(std::string_view text) {
  const auto value = all_of<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::string format_quantity(double value, Unit unit) {
  // Bytes by powers of 1000, rates in bits as networks state them.
  const std::span<const Suffix> suffixes = written(unit).first;
  const Suffix* best = &suffixes.front();
  for (const Suffix& suffix : suffixes) {
    if (suffix.text.find('i') != std::string_view::npos) continue;
    const double scaled = value / suffix.factor;
    const double best_scaled = value / best->factor;
    if (scaled >= 1 && (best_scaled < 1 || scaled < best_scaled)) best = &suffix;
  }
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.4g%s", value / best->factor, std::string(best->text).c_str());
  return text.data();
}

}  // namespace trigram
