// What a rank's random numbers are named by when it encodes a bucket, or what its node's other ranks leave it of one.
#pragma once

#include "core/lane/communicator.hpp"
#include "core/lane/worker.hpp"
#include "core/values/key.hpp"

namespace trigram {

/// Of the vector that this rank encodes whole for the group of a lane. With all_nics a node's ranks are in groups of
/// their own, which hold other elements of the bucket, and draw differently.
Key vector_key(const Worker& lane, const Communicator& group, int bucket);

/// Of one of as many chunks of it as the group has ranks.
Key chunk_key(const Worker& lane, const Communicator& group, int bucket, int chunk, Phase phase);

}  // namespace trigram
