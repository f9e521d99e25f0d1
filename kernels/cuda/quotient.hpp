// Many quotients by one divisor, rounded as IEEE 754 says, for less than as many divisions.
#pragma once

#include "kernels/cuda/launch.hpp"
#include "kernels/scalar.hpp"

namespace trigram::cuda {

/// With y the reciprocal rounded to nearest, q₁ = q₀ + y(x − q₀d) lies within one unit of x/d, and q₂ = q₁ + y(x − q₁d)
/// is x/d rounded to nearest (Markstein, "Computation of elementary functions on the IBM RISC System/6000 processor",
/// 1990), where nothing on the way leaves the range of normal numbers.
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
    const float first = x * reciprocal;
    const float second = __fmaf_rn(__fmaf_rn(-first, divisor, x), reciprocal, first);
    return __fmaf_rn(__fmaf_rn(-second, divisor, x), reciprocal, second);
  }
};

}  // namespace trigram::cuda
