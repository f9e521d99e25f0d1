// Options of a run that every backend needs: ranks, lanes, mesh, all-reduce.
#pragma once

#include <string>
#include <vector>

#include "core/world/configuration.hpp"
#include "core/world/lane_layout.hpp"
#include "core/world/mesh.hpp"

namespace trigram {

/// A rank that is lost at a second of the simulated clock.
struct LostRank {
  int rank = 0;
  double second = 0;
};

/// What Backend::run and Backend::enter are given.
struct World {
  int ranks = 1;
  int bucket_lanes = 1;             ///< lanes that carry buckets; a background lane is added
  std::string all_reduce = "ring";  ///< a name of AllReduces
  std::string mesh = {};            ///< as "data=4,expert=2", for Mesh::parse; empty: all ranks are replicas
  bool keep_spans = false;          ///< record every span, for a trace
  Configuration configuration =
      {};  ///< settings that must be equal on all ranks; compared at start where ranks are processes
  /// Chunks of a full-precision mean in a hierarchy: one chunk is exchanged between nodes while others are inside
  /// theirs.
  int hierarchy_chunks = 1;
  /// Where time is simulated: whom the others go on without (Communicator::exchange_with_those_there).
  std::vector<LostRank> losses = {};
  double detection_s = 0;  ///< how long a rank waits for one of them until it leaves it out

  /// The lanes of each rank. Throws UsageError unless there is at least one lane for buckets, and at least one chunk.
  LaneLayout layout() const;
  /// `mesh`, parsed. Throws UsageError where it does not fit the ranks.
  Mesh axes() const { return Mesh::parse(mesh, ranks); }
};

}  // namespace trigram
