// The mean of signs, for algorithms of which one goes down with it and one up.
#pragma once

#include "core/device/codec.hpp"
#include "core/primitives/centralized.hpp"
#include "core/step/bucketwise.hpp"

namespace trigram {

/// Replaces gradients by the mean over ranks of what the codec `sign` leaves of them.
inline void average_signs(Worker& lane, Bucket& bucket) {
  const auto codec = lane.device.make_codec("sign");
  const OwnedBuffer frame = lane.device.allocate(codec->encoded_shape(bucket.gradients.shape()));
  codec->encode(lane.device, bucket.gradients, frame, lane.key(bucket.index, Phase::algorithm));
  codec->decode(lane.device, frame, bucket.gradients, lane.key(bucket.index, Phase::algorithm));
  centralized_full_precision(lane, bucket.gradients);
}

}  // namespace trigram
