#include "core/units.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <span>

#include "core/error.hpp"

namespace trigram {
namespace {

struct Suffix {
  std::string_view text;
  double factor;
};

constexpr std::array byte_suffixes{Suffix{"B", 1},           Suffix{"kB", 1e3},          Suffix{"MB", 1e6},
                                   Suffix{"GB", 1e9},        Suffix{"TB", 1e12},         Suffix{"KiB", 1024},
                                   Suffix{"MiB", 1048576.0}, Suffix{"GiB", 1073741824.0}};
constexpr std::array second_suffixes{Suffix{"s", 1}, Suffix{"ms", 1e-3}, Suffix{"us", 1e-6}, Suffix{"ns", 1e-9}};
constexpr std::array rate_suffixes{
    Suffix{"bps", 0.125}, Suffix{"kbps", 125}, Suffix{"Mbps", 125e3}, Suffix{"Gbps", 125e6}, Suffix{"Tbps", 125e9},
    Suffix{"Bps", 1},     Suffix{"kBps", 1e3}, Suffix{"MBps", 1e6},   Suffix{"GBps", 1e9},   Suffix{"TBps", 1e12},
    Suffix{"B/s", 1},     Suffix{"kB/s", 1e3}, Suffix{"MB/s", 1e6},   Suffix{"GB/s", 1e9},   Suffix{"TB/s", 1e12}};
constexpr std::array flops_suffixes{Suffix{"FLOPS", 1}, Suffix{"MFLOPS", 1e6}, Suffix{"GFLOPS", 1e9},
                                    Suffix{"TFLOPS", 1e12}, Suffix{"PFLOPS", 1e15}};

std::span<const Suffix> suffixes(Unit unit) {
  switch (unit) {
    case Unit::bytes:
      return byte_suffixes;
    case Unit::seconds:
      return second_suffixes;
    case Unit::bytes_per_second:
      return rate_suffixes;
    case Unit::flops:
      return flops_suffixes;
  }
  throw Error("not a unit");
}

[[noreturn]] void malformed(std::string_view text, Unit unit) {
  std::string message =
      "'" + std::string(text) + "' is no quantity here; write a number that is not negative with one of:";
  for (const Suffix& suffix : suffixes(unit)) message += " " + std::string(suffix.text);
  throw UsageError(message);
}

}  // namespace

double parse_quantity(std::string_view text, Unit unit) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !std::isfinite(number) || number < 0) malformed(text, unit);
  std::string_view suffix(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (suffix.empty() && number == 0) return 0;
  if (suffix.starts_with(' ')) suffix.remove_prefix(1);
  for (const Suffix& known : suffixes(unit)) {
    if (known.text == suffix) return number * known.factor;
  }
  malformed(text, unit);
}

std::string format_quantity(double value, Unit unit) {
  // Bytes by powers of 1000, rates in bits as networks state them.
  const std::string_view unused = unit == Unit::bytes_per_second ? "B" : "i";
  const Suffix* best = &suffixes(unit).front();
  for (const Suffix& suffix : suffixes(unit)) {
    if (suffix.text.find(unused) != std::string_view::npos) continue;
    const double scaled = value / suffix.factor;
    const double best_scaled = value / best->factor;
    if (scaled >= 1 && (best_scaled < 1 || scaled < best_scaled)) best = &suffix;
  }
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.4g%s", value / best->factor, std::string(best->text).c_str());
  return text.data();
}

}  // namespace trigram
