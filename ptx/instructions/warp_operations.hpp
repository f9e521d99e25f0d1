// What lanes of a warp do together.
#pragma once

#include "ptx/reader/decoding.hpp"

namespace trigram::ptx {

/// shfl.sync.
void decode_shuffle(Decoding& decoding);
/// vote.sync.
void decode_vote(Decoding& decoding);
/// match.sync.
void decode_match(Decoding& decoding);
/// redux.sync, of 32 bits.
void decode_reduce(Decoding& decoding);
/// activemask: the lanes that run together here, which a schedule is free to choose.
void decode_active_mask(Decoding& decoding);

}  // namespace trigram::ptx
