// What a run asks of the place where it runs.
#pragma once

#include <string>

#include "core/configuration.hpp"
#include "core/lane_layout.hpp"

namespace trigram {

/// What a run asks of any backend.
struct World {
  int ranks = 1;
  int bucket_lanes = 1;              ///< lanes that carry buckets; a background lane is added
  std::string all_reduce = "ring";   ///< a name of AllReduces
  bool keep_spans = false;           ///< record every span, for a trace
  Configuration configuration = {};  ///< compared before ranks that are processes make their lanes

  /// The lanes of each rank. Throws UsageError where none would carry buckets.
  LaneLayout layout() const;
};

}  // namespace trigram
