// How the lanes of a rank are numbered.
#pragma once

#include <string>

namespace trigram {

/// Lane 0 is the main lane, 1 … `bucket_lanes` carry buckets, and one more is for background methods and for what the
/// rank serves.
struct LaneLayout {
  int bucket_lanes = 1;

  int lanes() const { return bucket_lanes + 2; }
  int background() const { return bucket_lanes + 1; }
  int of_bucket(int index) const { return 1 + index % bucket_lanes; }
  /// What messages call a lane: "main lane", "lane 1 (buckets 0, 2, ...)", "background lane".
  std::string name_of(int lane) const;
  /// Throws Error unless bodies can be started there.
  void require_startable(int lane) const;
};

}  // namespace trigram
