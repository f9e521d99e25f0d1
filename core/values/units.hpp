// Numbers and quantities as people write them: "10k", "10Gbps", "5us", "25MiB", "15.7TFLOPS".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trigram {

/// What a quantity measures; values are kept in the unit named here.
enum class Unit {
  bytes,             ///< B, kB, MB, GB, TB (powers of 1000), KiB, MiB, GiB, TiB (powers of 1024)
  message_bytes,     ///< the same, and as nccl-tests has it: a bare number is bytes, K, M and G are powers of 1024
  seconds,           ///< s, ms, us, µs, ns, min, h
  bytes_per_second,  ///< Bps … TBps or B/s … TB/s, GiB/s …, and bits: bps … Tbps, bit/s … Tbit/s, b/s … Tb/s
  flops,             ///< FLOPS … PFLOPS, or FLOP/s … PFLOP/s
  watts,             ///< W, mW, kW, MW
  joules_per_byte,   ///< J/B … pJ/B, J/GB, and for bits J/bit, nJ/bit, pJ/bit
  dollars_per_second,  ///< USD/h, USD/s
  dollars_per_byte     ///< USD/GB, USD/TB, USD/MB, USD/GiB
};

/// The value in the base unit of `unit`. A bare number is accepted for 0 only (and for message_bytes), so that no unit
/// is ever guessed. Throws UsageError naming the text and the units that are known, and for what is beyond any machine:
/// more than 1 EiB, 1e9 s, 1e18 B/s, 1e24 FLOPS, 1e9 W, 1 J/B, 1e6 USD/s or 1 USD/B.
double parse_quantity(std::string_view text, Unit unit);

/// Shortest text that parse_quantity reads back, with three or four significant digits: "10Gbps", "1.5us".
std::string format_quantity(double value, Unit unit);

/// "1000", "1,000" (in groups of three), "1k" (also M and G: powers of 1000), "1e3"; nullopt for anything else, and for
/// what no int64 holds.
std::optional<std::int64_t> whole_number(std::string_view text);

/// "0.5", "1e-3"; nullopt for anything else, infinities and NaN included.
std::optional<double> finite_number(std::string_view text);

}  // namespace trigram
