// What operations of models are tried with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/step/operation.hpp"

namespace trigram {

/// Values of 1/4 to 1 of both signs, so that no small step crosses 0, where some operations have a kink.
std::vector<float> values_of(std::int64_t count, std::uint64_t seed);

/// As many values in random order, `apart` from each other, so that no smaller step brings one past another.
std::vector<float> values_apart(std::int64_t count, float apart, std::uint64_t seed);

/// Positions in [0, most) as elements of the shape's type.
std::vector<std::byte> positions_of(const TensorShape& shape, std::int64_t most, std::uint64_t seed);

}  // namespace trigram
