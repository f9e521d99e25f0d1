// Loads and stores.
#pragma once

#include "ptx/reader/decoding.hpp"

namespace trigram::ptx {

/// ld, of one value or of a vector.
void decode_load(Decoding& decoding);
/// st.
void decode_store(Decoding& decoding);

}  // namespace trigram::ptx
