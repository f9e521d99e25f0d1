// Where all ranks of a run stand: in a mesh, and on nodes.
#pragma once

#include <map>
#include <vector>

#include "core/world/mesh.hpp"
#include "core/world/placement.hpp"

namespace trigram {

/// A data-parallel group is a set of replicas: the ranks that differ on the data axis alone, and without a mesh all
/// ranks. Nodes are looked at inside a line: a hierarchy knows of no rank outside.
class RankMap {
 public:
  /// Of every rank its node, numbered from 0 without gaps.
  RankMap(Mesh mesh, std::vector<int> node_of_rank);
  /// No mesh, and a node for each rank.
  explicit RankMap(int ranks);

  const Mesh& mesh() const { return mesh_; }
  /// The node of a rank, of whatever line, as the backend numbers nodes.
  int node_of(int rank) const { return node_of_rank_[static_cast<std::size_t>(rank)]; }
  /// The nodes of the ranks of a rank's data-parallel group, in the order of that line, numbered anew without gaps.
  const std::vector<int>& nodes_of_line(int rank) const { return line(rank).node_of_rank; }
  /// How many these are.
  int nodes(int rank) const { return line(rank).nodes; }
  /// The node of a rank in that numbering.
  int node(int rank) const { return nodes_of_line(rank)[static_cast<std::size_t>(mesh_.coordinate(Mesh::data, rank))]; }

 private:
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
