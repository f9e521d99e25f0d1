// How far a codec is off, for what a method promises of its results.
#pragma once

#include <span>

#include "core/codec.hpp"

namespace trigram {

/// The largest √bound over these vectors: ‖C(x) − x‖ as a share of ‖x‖, as far as theory says.
double encoding_error(std::span<const Shape> vectors, const Codec& codec);

}  // namespace trigram
