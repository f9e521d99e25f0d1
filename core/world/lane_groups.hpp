// Which ranks are together in the groups that every lane has.
#pragma once

#include <string>
#include <vector>

#include "core/world/rank_map.hpp"

namespace trigram {

/// All ranks of a world parted into groups: those of one color are together, in the order of their keys.
struct Parting {
  std::string name;        ///< of each of the groups, for messages: "node"
  std::vector<int> color;  ///< by rank
  std::vector<int> key;    ///< by rank; none is twice in a color

  auto operator<=>(const Parting&) const = default;

  /// The ranks of each group, in its order; groups in the order of their colors.
  std::vector<std::vector<int>> groups() const;
  /// The group of this rank.
  std::vector<int> group_of(int rank) const;
};

/// The partings behind Lane's communicators, in their order: the data-parallel groups, called "all ranks" where there
/// is one; of each its parts on a "node", in rank order, and its "leaders", with the same local rank, one a node, in
/// node order; then the lines along the other axes of the mesh, "axis expert".
std::vector<Parting> lane_groups(const RankMap& map);

}  // namespace trigram
