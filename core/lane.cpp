#include "core/lane.hpp"

#include <utility>

namespace trigram {

Lane::Lane(int lane_index, const World& world, std::function<double()> clock)
    : index(lane_index), timeline(std::move(clock), world.keep_spans) {}

void Lane::join_groups(const World& world, const MakeCommunicator& make) {
  std::size_t group = 0;
  for (std::unique_ptr<Communicator>* place : {&comm, &node, &leaders}) {
    std::unique_ptr<Communicator> inner = make(group++);
    inner->use_all_reduce(world.all_reduce);
    *place = metered(std::move(inner), meter, timeline);
  }
}

}  // namespace trigram
