#include "core/lane_groups.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace trigram {

std::vector<std::vector<int>> Parting::groups() const {
  std::map<int, std::map<int, int>> by_color;  // the rank of each key
  for (std::size_t rank = 0; rank < color.size(); ++rank) by_color[color[rank]][key[rank]] = static_cast<int>(rank);
  std::vector<std::vector<int>> groups;
  for (const auto& [its_color, rank_of_key] : by_color) {
    std::vector<int>& group = groups.emplace_back();
    for (const auto& [its_key, rank] : rank_of_key) group.push_back(rank);
  }
  return groups;
}

std::vector<int> Parting::group_of(int rank) const {
  std::map<int, int> rank_of_key;
  for (std::size_t other = 0; other < color.size(); ++other) {
    if (color[other] == color.at(static_cast<std::size_t>(rank))) rank_of_key[key[other]] = static_cast<int>(other);
  }
  std::vector<int> group;
  for (const auto& [its_key, member] : rank_of_key) group.push_back(member);
  return group;
}

std::vector<Parting> lane_groups(const std::vector<int>& node_of_rank) {
  std::vector<int> rank(node_of_rank.size());
  std::iota(rank.begin(), rank.end(), 0);
  std::map<int, int> seen;  // ranks of each node
  std::vector<int> local_rank;
  for (const int node : node_of_rank) local_rank.push_back(seen[node]++);
  return {{"all ranks", std::vector<int>(rank.size(), 0), rank},
          {"node", node_of_rank, rank},
          {"leaders", local_rank, node_of_rank}};
}

}  // namespace trigram
