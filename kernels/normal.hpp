// Standard normal numbers from random words, by additions, multiplications, divisions and roots only, so that every
// kind of device draws the same bits.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "kernels/scalar.hpp"

namespace trigram::scalar {

/// ln x of a positive normal x, within 2e-12 of its size: x = m·2^e with m from √½ to √2, and
/// ln m = 2 artanh s = 2 (s + s³/3 + s⁵/5 + …), s = (m − 1)/(m + 1).
TRIGRAM_RULE double logarithm(double x) {
  constexpr std::int64_t root_half = 0x3fe6a09e667f3bcd;  // the bits of √½
  const std::int64_t above = std::bit_cast<std::int64_t>(x) - root_half;
  const auto m = std::bit_cast<double>((above & 0xfffffffffffff) + root_half);
  const double s = (m - 1.0) / (m + 1.0);
  const double z = s * s;
  double series = 1.0 / 13.0;
  series = series * z + 1.0 / 11.0;
  series = series * z + 1.0 / 9.0;
  series = series * z + 1.0 / 7.0;
  series = series * z + 1.0 / 5.0;
  series = series * z + 1.0 / 3.0;
  series = series * z + 1.0;
  return static_cast<double>(above >> 52) * 0.6931471805599453 + 2.0 * s * series;
}

/// Φ⁻¹((word + ½)/2³²), within 2e-7 of its size; from −6.338 to 6.338, and −x for the word with all bits changed. The
/// rational functions are PPND7 of Wichura, "Algorithm AS 241: the percentage points of the normal distribution",
/// Applied Statistics 37, 1988, of which words of 32 bits need the first two.
TRIGRAM_RULE float normal(std::uint32_t word) {
  const double q = (static_cast<double>(static_cast<std::int32_t>(word ^ 0x80000000U)) + 0.5) * 0x1p-32;
  const double size = q < 0.0 ? -q : q;
  if (size <= 0.425) {
    const double r = 0.180625 - q * q;
    return static_cast<float>(q * (((59.109374720 * r + 159.29113202) * r + 50.434271938) * r + 3.3871327179) /
                              (((67.187563600 * r + 78.757757664) * r + 17.895169469) * r + 1.0));
  }
  const double r = std::sqrt(-logarithm(0.5 - size)) - 1.6;
  const double x = (((0.17023821103 * r + 1.3067284816) * r + 2.7568153900) * r + 1.4234372777) /
                   ((0.12021132975 * r + 0.73700164250) * r + 1.0);
  return static_cast<float>(q < 0.0 ? -x : x);
}

}  // namespace trigram::scalar
