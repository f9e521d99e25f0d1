// Quantities with units, as people write them: "10Gbps", "5us", "25MiB", "15.7TFLOPS".
#pragma once

#include <string>
#include <string_view>

namespace trigram {

/// What a quantity measures; values are kept in the unit named here.
enum class Unit {
  bytes,             ///< B, kB, MB, GB (powers of 1000), KiB, MiB, GiB (powers of 1024)
  seconds,           ///< s, ms, us, ns
  bytes_per_second,  ///< Bps, kBps, MBps, GBps, TBps (or GB/s) and bits: bps, kbps, Mbps, Gbps, Tbps (8 bits a byte)
  flops              ///< FLOPS, MFLOPS, GFLOPS, TFLOPS
};

/// The value in the base unit of `unit`. A bare number is accepted for 0 only, so that no unit is ever guessed.
/// Throws UsageError naming the text and the units that are known.
double parse_quantity(std::string_view text, Unit unit);

/// Shortest text that parse_quantity reads back, with three or four significant digits: "10Gbps", "1.5us".
std::string format_quantity(double value, Unit unit);

}  // namespace trigram
