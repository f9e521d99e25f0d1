// An all-gather of frames, as systems without servers exchange compressed gradients (GRACE: Xu et al., ICDCS
// 2021, doi:10.1109/ICDCS51616.2021.00060).
#pragma once

#include <span>

#include "core/compression/frames.hpp"
#include "core/device/codec.hpp"
#include "core/lane/communicator.hpp"
#include "core/lane/worker.hpp"
#include "core/values/cost.hpp"

namespace trigram {

/// The frames of all ranks of the group, by rank: Q(x_j) of what each encodes, whole. `own` is this rank's key; that of
/// rank j differs in its rank. With `error`, which has the shape of x, it becomes x − Q(x).
Frames gather_frames(Worker& lane, Communicator& group, Buffer x, const Codec& codec, const Key& own,
                     Buffer error = {});

/// x ← mean over the group of Q(x_j), whose frames all ranks gather likewise and decode in rank order, n frames each.
/// Replicas stay identical.
void compressed_all_gather(Worker& lane, Communicator& group, Buffer x, const Codec& codec, const Key& own,
                           Buffer error = {});

/// Rounds and bytes of one call of either around the ring: every frame but the successor's passes each rank.
Cost compressed_all_gather_cost(int ranks, std::int64_t count, const Codec& codec);

/// As weights travel where each rank owns some, qwZ of ZeRO++ (Wang et al., 2023, arXiv:2306.10209): places[r] ← Q(what
/// rank r of the group brings), the own one too, so that all ranks have the same. `mine` may be places[rank]. `own` is
/// this rank's key; that of rank j differs in its rank.
void compressed_all_gather_parts(Worker& lane, Communicator& group, Buffer mine, std::span<const Buffer> places,
                                 const Codec& codec, const Key& own);

/// Rounds and bytes of one such call around the ring, of parts of so many elements: every frame but the successor's
/// passes each rank.
Cost compressed_all_gather_parts_cost(int rank, std::span<const std::int64_t> counts, const Codec& codec);

}  // namespace trigram
