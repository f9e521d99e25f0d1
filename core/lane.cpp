#include "core/lane.hpp"

#include <utility>
#include <vector>

namespace trigram {

Lane::Lane(int lane_index, const World& world, std::function<double()> clock)
    : index(lane_index), timeline(std::move(clock), world.keep_spans) {}

void Lane::join_groups(const World& world, const MakeCommunicator& make) {
  std::vector<std::unique_ptr<Communicator>*> places{&comm, &node, &leaders};
  const Mesh mesh = world.axes();
  for (const Mesh::Axis& axis : mesh.axes()) {
    if (axis.name != Mesh::data) places.push_back(&other_axes[axis.name]);
  }
  std::size_t group = 0;
  for (std::unique_ptr<Communicator>* place : places) {
    std::unique_ptr<Communicator> inner = make(group++);
    inner->use_all_reduce(world.all_reduce);
    *place = metered(std::move(inner), meter, timeline);
  }
}

}  // namespace trigram
