// Which ranks are together in the groups that every lane has.
#pragma once

#include <string>
#include <vector>

namespace trigram {

/// All ranks of a world parted into groups: those of one color are together, in the order of their keys.
struct Parting {
  std::string name;        ///< of each of the groups, for messages: "node"
  std::vector<int> color;  ///< by rank
  std::vector<int> key;    ///< by rank; none is twice in a color

  /// The ranks of each group, in its order; groups in the order of their colors.
  std::vector<std::vector<int>> groups() const;
  /// The group of this rank.
  std::vector<int> group_of(int rank) const;
};

/// The partings behind Lane's communicators, in their order: "all ranks"; "node", in rank order; and "leaders", the
/// ranks with the same local rank, one a node, in node order.
std::vector<Parting> lane_groups(const std::vector<int>& node_of_rank);

}  // namespace trigram
