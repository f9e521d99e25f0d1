// Arithmetic of floating-point numbers.
#pragma once

#include "ptx/reader/decoding.hpp"

namespace trigram::ptx {

/// Decodes add, sub, mul, fma, div, sqrt, rcp, min, max, abs, neg and copysign for f32 and f64, and ex2 for f32.
void decode_floating(Decoding& decoding, Type type);

}  // namespace trigram::ptx
