// How the lanes of a rank are numbered.
#pragma once

#include <string>

namespace trigram {

/// Lane 0 is the main lane, 1 … `bucket_lanes` carry buckets, and one more is for background methods and for the rank's
/// RPC service. Where a hierarchy is exchanged in chunks, each of these has a network lane; those have the last
/// numbers.
struct LaneLayout {
  int bucket_lanes = 1;
  int hierarchy_chunks = 1;  ///< as World has it

  int lanes() const { return hierarchy_chunks > 1 ? 2 * own_lanes() : own_lanes(); }
  int background() const { return bucket_lanes + 1; }
  int of_bucket(int index) const { return 1 + index % bucket_lanes; }
  /// The network lane of a lane: exchanges between nodes run there, while the lane itself exchanges inside its node.
  int network_lane_of(int lane) const { return own_lanes() + lane; }
  /// The lane that starts tasks on this one, and waits for them: the main lane, or the one whose network lane it is.
  int starter_of(int lane) const { return lane < own_lanes() ? 0 : lane - own_lanes(); }
  /// A lane's name in error messages: "main lane", "lane 1 (buckets 0, 2, ...)", "background lane", "network lane of
  /// …".
  std::string name_of(int lane) const;
  /// Throws Error unless tasks can be started there.
  void require_startable(int lane) const;

 private:
  int own_lanes() const { return bucket_lanes + 2; }
};

}  // namespace trigram
