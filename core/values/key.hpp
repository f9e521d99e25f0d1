// What names a random number: with the element's index as counter, no generator has any state.
#pragma once

#include <cstdint>

namespace trigram {

/// What a key is drawn for; separates streams that would otherwise share numbers.
enum class Phase : std::uint32_t { worker, server, node, data, weights, topology, algorithm };

/// Key of a Philox stream. Codecs whose ranks must draw alike (random_k) leave `rank` out.
struct Key {
  std::uint64_t seed = 0;
  std::int64_t step = 0;
  int rank = 0;
  int bucket = 0;
  int chunk = 0;  ///< part of the bucket, so that chunks encoded alike draw differently
  Phase phase = Phase::worker;
};

}  // namespace trigram
