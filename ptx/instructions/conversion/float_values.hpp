// What modifiers do to floating-point numbers.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace trigram::ptx {

/// The one NaN that instructions give in f32.
inline float canonical_nan(float) { return std::bit_cast<float>(0x7FFFFFFFU); }
inline double canonical_nan(double) { return std::numeric_limits<double>::quiet_NaN(); }

/// Zero with its sign for a subnormal number, where `flushes`.
template <bool flushes, class T>
inline T flushed(T x) {
  if constexpr (!flushes) return x;
  return std::fabs(x) < std::numeric_limits<T>::min() ? std::copysign(T{0}, x) : x;
}

/// Between 0 and 1, where `saturates`; NaN becomes 0.
template <bool saturates, class T>
inline T saturated(T x) {
  if constexpr (!saturates) return x;
  return x > T{0} ? (x < T{1} ? x : T{1}) : T{0};
}

/// GPUs give the same NaN for whatever has none, in f32.
inline float with_canonical_nan(float x) { return x == x ? x : canonical_nan(x); }
inline double with_canonical_nan(double x) { return x; }

}  // namespace trigram::ptx
