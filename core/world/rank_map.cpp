#include "core/world/rank_map.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace trigram {
namespace {

std::vector<int> node_each(int ranks) {
  std::vector<int> nodes(static_cast<std::size_t>(ranks));
  std::iota(nodes.begin(), nodes.end(), 0);
  return nodes;
}

/// Numbers anew without gaps, in the same order; how many numbers there are.
int close_gaps(std::vector<int>& numbers) {
  std::vector<int> used = numbers;
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  for (int& number : numbers)
    number = static_cast<int>(std::lower_bound(used.begin(), used.end(), number) - used.begin());
  return static_cast<int>(used.size());
}

}  // namespace

RankMap::RankMap(Mesh mesh, std::vector<int> node_of_rank)
    : mesh_(std::move(mesh)), node_of_rank_(std::move(node_of_rank)) {
  for (int rank = 0; rank < mesh_.ranks(); ++rank) {
    Line& line = lines_[mesh_.first_of_line(Mesh::data, rank)];
    line.node_of_rank.push_back(node_of_rank_.at(static_cast<std::size_t>(rank)));
  }
  for (auto& [first, line] : lines_) line.nodes = close_gaps(line.node_of_rank);
}

RankMap::RankMap(int ranks) : RankMap(Mesh(ranks), node_each(ranks)) {}

}  // namespace trigram
