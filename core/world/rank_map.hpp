// The places of all ranks of a job: in a mesh, and on nodes.
#pragma once

#include <map>
#include <vector>

#include "core/world/mesh.hpp"
#include "core/world/placement.hpp"

namespace trigram {

/// A data-parallel group is a set of replicas: the ranks that differ on the data axis alone, and without a mesh all
/// ranks. A hierarchy is made inside such a group: its nodes are those that the group's ranks are on.
class RankMap {
 public:
  /// `node_of_rank`: the node of every rank, numbered from 0 without gaps.
  RankMap(Mesh mesh, std::vector<int> node_of_rank);
  /// No mesh, and each rank on a node of its own.
  explicit RankMap(int ranks);

  const Mesh& mesh() const { return mesh_; }
  /// The node of any rank of the job, as the backend numbers nodes.
  int node_of(int rank) const { return node_of_rank_[static_cast<std::size_t>(rank)]; }
  /// Nodes of the data-parallel group of `rank`: one entry per rank of the group, renumbered from 0 without gaps.
  const std::vector<int>& nodes_of_group(int rank) const { return line(rank).node_of_rank; }
  /// Number of nodes of that group.
  int nodes(int rank) const { return line(rank).nodes; }
  /// The node of a rank in that numbering.
  int node(int rank) const {
    return nodes_of_group(rank)[static_cast<std::size_t>(mesh_.coordinate(Mesh::data, rank))];
  }

 private:
  /// A data-parallel group.
  struct Line {
    std::vector<int> node_of_rank;
    int nodes = 0;
  };
  const Line& line(int rank) const { return lines_.at(mesh_.first_of_line(Mesh::data, rank)); }

  Mesh mesh_;
  std::vector<int> node_of_rank_;
  std::map<int, Line> lines_;  ///< by their first rank
};

}  // namespace trigram
