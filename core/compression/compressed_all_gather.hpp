// An all-gather of frames, as systems without servers exchange compressed gradients (GRACE: Xu et al., ICDCS
// 2021, doi:10.1109/ICDCS51616.2021.00060).
#pragma once

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

}  // namespace trigram
