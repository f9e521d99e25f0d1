#include "core/world/lane_groups.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace trigram {

std::vector<std::vector<int>> RankPartition::groups() const {
  std::map<int, std::map<int, int>> by_color;  // the rank of each key
  for (std::size_t rank = 0; rank < color.size(); ++rank) by_color[color[rank]][key[rank]] = static_cast<int>(rank);
  std::vector<std::vector<int>> groups;
  for (const auto& [its_color, rank_of_key] : by_color) {
    std::vector<int>& group = groups.emplace_back();
    for (const auto& [its_key, rank] : rank_of_key) group.push_back(rank);
  }
  return groups;
}

std::vector<int> RankPartition::group_of(int rank) const {
  std::vector<std::vector<int>> all = groups();
  return std::move(
      *std::ranges::find_if(all, [rank](const auto& group) { return std::ranges::count(group, rank) > 0; }));
}

namespace {

/// What `of` says of each rank.
template <class Of>
std::vector<int> by_rank(const RankMap& map, const Of& of) {
  std::vector<int> values;
  for (int rank = 0; rank < map.mesh().ranks(); ++rank) values.push_back(of(rank));
  return values;
}

/// Lines along an axis.
RankPartition lines(const RankMap& map, const std::string& axis) {
  const Mesh& mesh = map.mesh();
  return {mesh.size(axis) == mesh.ranks() ? "all ranks" : "axis " + axis,
          by_rank(map, [&](int rank) { return mesh.first_of_line(axis, rank); }),
          by_rank(map, [](int rank) { return rank; })};
}

/// Parts of data-parallel groups: ranks of one data-parallel group are together where `number` says the same of them. A
/// part has the color of its first rank.
template <class Number>
std::vector<int> parts_of_lines(const RankMap& map, const Number& number) {
  std::map<std::pair<int, int>, int> first;
  return by_rank(map, [&](int rank) {
    return first.try_emplace({map.mesh().first_of_line(Mesh::data, rank), number(rank)}, rank).first->second;
  });
}

}  // namespace

std::vector<RankPartition> lane_groups(const RankMap& map) {
  const RankPartition data = lines(map, std::string(Mesh::data));
  const auto node = [&](int rank) { return map.node(rank); };
  const std::vector<int> node_parts = parts_of_lines(map, node);
  std::map<int, int> seen;  // ranks of each node
  const auto local_rank = [&](int rank) { return seen[node_parts[static_cast<std::size_t>(rank)]]++; };
  std::vector<RankPartition> groups{
      data, {"node", node_parts, data.key}, {"leaders", parts_of_lines(map, local_rank), by_rank(map, node)}};
  for (const Mesh::Axis& axis : map.mesh().axes()) {
    if (axis.name != Mesh::data) groups.push_back(lines(map, axis.name));
  }
  return groups;
}

}  // namespace trigram
