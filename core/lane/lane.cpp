#include "core/lane/lane.hpp"

#include <utility>

#include "core/lane/all_reduce.hpp"
#include "core/world/lane_groups.hpp"

namespace trigram {

Lane::Lane(int lane_index, const World& world, std::function<double()> clock)
    : index(lane_index), timeline(std::move(clock), world.keep_spans) {}

namespace {

/// The nodes of a rank's data-parallel group.
NodeOf nodes_of_group(const RankMap& map, const std::string& axis, int rank) {
  if (map.mesh().axes().size() == 1) return [&map](int peer) { return map.node_of(peer); };
  return [&map, axis, rank](int peer) { return map.node_of(map.mesh().at(axis, peer, rank)); };
}

}  // namespace

void Lane::join_groups(const World& world, const RankMap& map, int rank, const MakeCommunicator& make) {
  const AllReduce& all_reduce = all_reduce_named(world.all_reduce);
  std::size_t group = 0;
  const std::vector<RankPartition> partitions = world.keep_spans ? lane_groups(map) : std::vector<RankPartition>{};
  const auto join = [&](NodeOf node_of) {
    std::vector<int> members;
    if (!partitions.empty()) members = partitions[group].group_of(rank);
    std::unique_ptr<Communicator> inner = make(group++);
    inner->use_all_reduce(all_reduce);
    return metered(std::move(inner), meter, timeline, std::move(node_of), std::move(members));
  };
  comm = join(nodes_of_group(map, std::string(Mesh::data), rank));
  node = join([](int) { return 0; });
  leaders = join([](int peer) { return peer; });
  for (const Mesh::Axis& axis : map.mesh().axes()) {
    if (axis.name != Mesh::data) other_axes[axis.name] = join(nodes_of_group(map, axis.name, rank));
  }
}

}  // namespace trigram
