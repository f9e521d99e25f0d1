// Vectors that codecs lose much of: where one value sets the scale of many small ones, on the halves between levels, at
// powers of two and just below them, with next to all in one element or the same in each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/values/random.hpp"

namespace trigram {

struct HardVector {
  std::string name;  ///< "one of 1, then 31 of 0.125"
  std::vector<float> values;
};

/// Of so many elements, at least one; magnitudes are at most 1, but for roundings.
std::vector<HardVector> hard_vectors(std::int64_t count);

/// The same with few elements changed, drawn from `random` at `draw`; the largest magnitude stays between 1/2 and 1.
HardVector changed(const HardVector& from, const Philox& random, std::uint64_t draw);

}  // namespace trigram
