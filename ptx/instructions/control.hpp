// Branches, the end of a thread, barriers of a block, and what orders memory.
#pragma once

#include "ptx/reader/decoding.hpp"

namespace trigram::ptx {

/// bra.
void decode_branch(Decoding& decoding);
/// ret and exit: in an entry they are the same.
void decode_exit(Decoding& decoding);
/// bar.sync and barrier.sync.aligned of all threads of a block, and bar.warp.sync of some lanes.
void decode_barrier(Decoding& decoding);
/// membar and fence, behind which all threads see what a lane stored before.
void decode_fence(Decoding& decoding);

}  // namespace trigram::ptx
