// What all lanes of one rank together have done up to a point in time.
#pragma once

#include <cstdint>

#include "core/lane/worker.hpp"
#include "core/values/cost.hpp"

namespace trigram {

/// Sums over lanes; differences of two of them are what happened in between.
struct RankProgress {
  /// Now. Counts spans whose marks have passed.
  static RankProgress of(Worker& worker);

  double time = 0;
  double compute = 0;  ///< busy seconds of the main lane
  double encode = 0, wire = 0, decode = 0;
  double busy = 0;  ///< of the GPU, since the RankProgress before
  Cost sent;
  std::int64_t to_other_nodes = 0;
};

}  // namespace trigram
