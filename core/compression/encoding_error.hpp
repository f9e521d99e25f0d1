// How far a codec is off, for what a method promises of its results.
#pragma once

#include <span>

#include "core/device/codec.hpp"
#include "core/step/bucket.hpp"

namespace trigram {

/// The largest √bound over these buckets: ‖C(x) − x‖ as a share of ‖x‖, as far as theory says.
double encoding_error(std::span<const BucketLayout> buckets, const Codec& codec);

}  // namespace trigram
