// Conversions between types.
#pragma once

#include "ptx/reader/decoding.hpp"

namespace trigram::ptx {

/// cvt.
void decode_convert(Decoding& decoding);

}  // namespace trigram::ptx
