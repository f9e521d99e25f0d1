// What a run asks of the place where it runs.
#pragma once

#include <string>

#include "core/world/configuration.hpp"
#include "core/world/lane_layout.hpp"
#include "core/world/mesh.hpp"

namespace trigram {

/// What a run asks of any backend.
struct World {
  int ranks = 1;
  int bucket_lanes = 1;              ///< lanes that carry buckets; a background lane is added
  std::string all_reduce = "ring";   ///< a name of AllReduces
  std::string mesh = {};             ///< as "data=4,expert=2", for Mesh::parse; empty: all ranks are replicas
  bool keep_spans = false;           ///< record every span, for a trace
  Configuration configuration = {};  ///< compared before ranks that are processes make their lanes
  /// Chunks of a full-precision mean in a hierarchy: phases of one inside nodes run beside that of another between
  /// them.
  int hierarchy_chunks = 1;

  /// The lanes of each rank. Throws UsageError where none would carry buckets, or chunks are none.
  LaneLayout layout() const;
  /// What `mesh` says. Throws UsageError where it does not fit the ranks.
  Mesh axes() const { return Mesh::parse(mesh, ranks); }
};

}  // namespace trigram
