// Many quotients by one divisor, rounded as IEEE 754 says, for less than as many divisions.
#pragma once

#include "kernels/cuda/runtime/launch.hpp"
#include "kernels/scalar.hpp"

namespace trigram::cuda {

/// With y the reciprocal rounded to nearest and q₀ = xy, q₁ = q₀ + y(x − q₀d) is x/d rounded to nearest where nothing
/// on the way leaves the range of normal numbers (after Markstein, "Computation of elementary functions on the IBM RISC
/// System/6000 processor", 1990). Why, with whole mantissas A, B in [2^23, 2^24): q₀ is within 1.5 units in the last
/// place of A/B, the remainder is within one of its units, and |yd − 1| ≤ B/2^48; before it is rounded q₁ is then
/// within 1.5·B/2^48 + 1/B units of A/B, which matters only where a number halfway between two floats is that near. It
/// is |n|/(2B) units away, n = A·2^25 − (2K+1)B for A < B and A·2^24 − (2K+1)B else: only |n| ≤ 5 can go wrong. For
/// every B these A are few: all 46,517,418 pairs with |n| ≤ 8 have been divided, none is wrong (`HardQuotients`).
struct Quotient {
  float divisor, reciprocal;
  bool quick;

  /// 2^-60 to 2^60: quotients and remainders stay far from where numbers end.
  static __device__ __forceinline__ bool is_moderate(float x) {
    const std::uint32_t size = scalar::magnitude(x);
    return size >= scalar::bits_of(0x1p-60F) && size <= scalar::bits_of(0x1p60F);
  }
  static __device__ __forceinline__ Quotient by(float divisor) {
    return {divisor, 1.0F / divisor, is_moderate(divisor)};
  }

  /// x/divisor for any x but −0.
  __device__ __forceinline__ float of(float x) const {
    if (!quick || !(x == 0.0F || is_moderate(x))) return x / divisor;
    return of_moderate(x);
  }
  /// The same where the divisor is moderate and x is, or 0.
  __device__ __forceinline__ float of_moderate(float x) const {
    const float first = x * reciprocal;
    return __fmaf_rn(__fmaf_rn(-first, divisor, x), reciprocal, first);
  }
};

}  // namespace trigram::cuda
