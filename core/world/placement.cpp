#include "core/world/placement.hpp"

#include <algorithm>

#include "core/values/error.hpp"
#include "core/values/quoted.hpp"

namespace trigram {
namespace {

constexpr Hierarchy all_hierarchies[] = {Hierarchy::none, Hierarchy::leader, Hierarchy::all_nics};

}  // namespace

std::string_view name_of(Hierarchy hierarchy) {
  switch (hierarchy) {
    case Hierarchy::none:
      return "none";
    case Hierarchy::leader:
      return "leader";
    case Hierarchy::all_nics:
      return "all_nics";
  }
  throw Error("not a hierarchy");
}

Hierarchy parse_hierarchy(std::string_view text) {
  for (const Hierarchy hierarchy : all_hierarchies) {
    if (name_of(hierarchy) == text) return hierarchy;
  }
  throw UsageError("hierarchy " + in_quotes(text) + " is not one of none, leader, all_nics");
}

Placement placement(const std::vector<int>& node_of_rank, int rank) {
  Placement place;
  place.rank = rank;
  place.ranks = static_cast<int>(node_of_rank.size());
  place.node = node_of_rank.at(static_cast<std::size_t>(rank));
  place.nodes = 1 + *std::max_element(node_of_rank.begin(), node_of_rank.end());
  const auto begin = node_of_rank.begin();
  place.local_rank = static_cast<int>(std::count(begin, begin + rank, place.node));
  place.node_size = static_cast<int>(std::count(begin, node_of_rank.end(), place.node));
  return place;
}

int vertices(Hierarchy hierarchy, const Placement& place) {
  return hierarchy == Hierarchy::none ? place.ranks : place.nodes;
}

}  // namespace trigram
