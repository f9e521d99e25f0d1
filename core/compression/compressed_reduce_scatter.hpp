// Encoded chunks to those who own them: the first half of C_LP_S, and each hop of ZeRO++'s qgZ (Wang et al., 2023,
// arXiv:2306.10209).
#pragma once

#include <span>

#include "core/device/codec.hpp"
#include "core/lane/communicator.hpp"
#include "core/lane/worker.hpp"
#include "core/values/cost.hpp"

namespace trigram {

/// x.chunk(rank, size) ← mean over the group of Q(that chunk of x_j), added in the order of ranks rank+1, …, rank; the
/// other chunks stay as they are. `own` is this rank's key for chunk 0, chunk i has `own.chunk` + i, and rank j's
/// differ in the rank. A group of one encodes nothing.
void compressed_reduce_scatter(Worker& lane, Communicator& group, Buffer x, const Codec& codec, const Key& own);

/// The same of any parts, of which each rank of the group has one: parts[rank] ← their mean, or their sum. Throws Error
/// for another operation.
void compressed_reduce_scatter(Worker& lane, Communicator& group, std::span<const Buffer> parts, const Codec& codec,
                               const Key& own, ReduceOp op = ReduceOp::mean);

/// Rounds and bytes of one such call: all chunks but the own one go in one round.
Cost compressed_reduce_scatter_cost(int ranks, int rank, std::int64_t count, const Codec& codec);

}  // namespace trigram
