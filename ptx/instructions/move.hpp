// Moves between registers.
#pragma once

#include "ptx/reader/decoding.hpp"

namespace trigram::ptx {

/// mov: of one register, of several into one, and of one into several.
void decode_move(Decoding& decoding);
/// cvta: from an address in a state space to one that names its space, or back.
void decode_convert_address(Decoding& decoding);

}  // namespace trigram::ptx
