// Comparisons, and choices by predicates.
#pragma once

#include "ptx/reader/decoding.hpp"

namespace trigram::ptx {

/// setp, of one comparison or of one combined with another predicate.
void decode_compare(Decoding& decoding);
/// selp.
void decode_select(Decoding& decoding);

}  // namespace trigram::ptx
