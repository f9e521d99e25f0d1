// Arithmetic of integers.
#pragma once

#include "ptx/reader/decoding.hpp"

namespace trigram::ptx {

/// Decodes add, sub, mul, mad, sad, div, rem, abs, neg, min and max for integers of this type.
void decode_integer(Decoding& decoding, Type type);

}  // namespace trigram::ptx
