// Instructions whose results PTX gives a bound of error only.
#pragma once

#include "ptx/reader/decoding.hpp"

namespace trigram::ptx {

/// ex2.approx for f32: 2^a within a relative error of 2^-22. The schedule says at which end.
void decode_power_of_two(Decoding& decoding, Type type);

/// rcp.approx for f32, within a relative error of 2^-23, and rcp.approx.ftz for f64, of which only the upper 32 bits
/// are computed, from the upper 32 bits of its operand. What follows .approx is still to be taken.
void decode_approximate_reciprocal(Decoding& decoding, Type type);

}  // namespace trigram::ptx
