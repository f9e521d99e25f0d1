// The arithmetic inside collectives: what is received is combined with what is held, at no simulated cost of its own.
#pragma once

#include "core/lane/communicator.hpp"

namespace trigram {

/// held = op(held, incoming), uncharged: reductions hide in the communication kernels (gamma = 0 in the closed forms).
/// A mean is summed here; `finish_mean` divides once at the end.
void combine(Communicator& comm, ReduceOp op, Buffer incoming, Buffer held);

/// For a mean, divides the sum `x` by the size of the group: floats by one multiplication with 1/n, integers by integer
/// division towards zero. Does nothing for the other operations.
void finish_mean(Communicator& comm, ReduceOp op, Buffer x);

/// to = from on this rank, uncharged: a message to oneself.
void copy_own(Communicator& comm, Buffer from, Buffer to);

/// The beginning of `memory` with the sizes of `x`, which must not be larger.
Buffer shaped_like(Buffer memory, Buffer x);

}  // namespace trigram
