// The groups of ranks that every lane has a communicator for.
#pragma once

#include <string>
#include <vector>

#include "core/world/rank_map.hpp"

namespace trigram {

/// A partition of all ranks into groups, as MPI_Comm_split makes it: ranks of one color are a group, ordered by key.
struct RankPartition {
  std::string name;        ///< of each group, for error messages: "node"
  std::vector<int> color;  ///< by rank
  std::vector<int> key;    ///< by rank; distinct within a color

  auto operator<=>(const RankPartition&) const = default;

  /// The ranks of each group, in its order; groups in the order of their colors.
  std::vector<std::vector<int>> groups() const;
  /// The group of this rank.
  std::vector<int> group_of(int rank) const;
};

/// The groups that each lane has a communicator for, in this order: the data-parallel groups ("all ranks" where there
/// is one); within each, the ranks of a node ("node", by rank), and those with the same local rank ("leaders", by
/// node); then the groups along each other axis of the mesh ("axis expert").
std::vector<RankPartition> lane_groups(const RankMap& map);

}  // namespace trigram
