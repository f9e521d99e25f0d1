#include "backends/process/process_communicator.hpp"

#include <algorithm>
#include <utility>

#include "core/lane/real_data.hpp"
#include "core/values/error.hpp"

namespace trigram {

ProcessCommunicator::ProcessCommunicator(std::string name, std::vector<int> world_ranks, int own, LaneOfGroup lane)
    : name_(std::move(name)),
      world_ranks_(std::move(world_ranks)),
      rank_(static_cast<int>(std::ranges::find(world_ranks_, own) - world_ranks_.begin())),
      lane_(std::move(lane)) {}

std::unique_ptr<Communicator> ProcessCommunicator::regroup(const GroupPart& part) {
  return make_part("a group split from " + name_, part.members, part.index);
}

void ProcessCommunicator::require_possible(std::span<const Transfer> transfers, const char* backend) const {
  for (const Transfer& transfer : transfers) {
    require(transfer.peer >= 0 && transfer.peer < size(), "rank ", transfer.peer, " is no rank of a group of ", size(),
            "; ranks count from 0");
    require_data(transfer.buffer, backend);
  }
}

std::vector<int> ProcessCommunicator::world_ranks_of(const std::vector<int>& members) const {
  std::vector<int> ranks;
  for (const int member : members) ranks.push_back(world_rank(member));
  return ranks;
}

std::string ProcessCommunicator::describe(const std::string& operation) const {
  const std::string doing = lane_->device.timeline().doing();
  return lane_->place(own_world_rank()) + ", " + name_ + ": " + operation + " number " + std::to_string(operations_) +
         (doing.empty() || doing == operation ? "" : " (in " + doing + ")");
}

}  // namespace trigram
