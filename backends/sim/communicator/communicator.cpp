#include "backends/sim/communicator/communicator.hpp"

#include <algorithm>

#include "backends/sim/engine/blocking.hpp"
#include "core/values/error.hpp"

namespace trigram::sim {

SimCommunicator::SimCommunicator(std::shared_ptr<Group> group, int rank, Device& device, bool fluid)
    : member_(std::move(group), rank, device),
      messages_(member_),
      stand_ins_(member_),
      fluid_collectives_(member_, messages_, stand_ins_),
      pipelined_collectives_(member_, stand_ins_, fluid),
      fluid_(fluid) {}

Placement SimCommunicator::place() const {
  const std::vector<std::vector<int>>& nodes = member_.group->by_node();
  const int node = member_.group->node_of(member_.rank);
  return {member_.rank,
          member_.size(),
          node,
          static_cast<int>(nodes.size()),
          member_.group->local_rank(member_.rank),
          static_cast<int>(nodes[at(node)].size())};
}

bool SimCommunicator::is_pipelined(const CollectiveCall& call) const {
  const AllReduce& how = all_reduce_algorithm();
  if (call.collective == Collective::all_reduce) return how.pipelined();
  return call.parts.empty() && how.chooses(call.collective);
}

SimCommunicator::Form SimCommunicator::note_form(const CollectiveCall& call) const {
  const bool alone = size() == 1;
  const bool fluid = !alone && fluid_ && fluid_collectives_.has_form(call, *this);
  member_.simulation.traffic().note(call.collective, fluid);
  if (!alone && is_pipelined(call)) return Form::pipelined;
  return fluid ? Form::fluid : Form::messages;
}

void SimCommunicator::perform(const CollectiveCall& call) {
  switch (note_form(call)) {
    case Form::pipelined:
      return pipelined_collectives_.perform(call, *this);
    case Form::fluid:
      return fluid_collectives_.perform(call, *this);
    case Form::messages:
      return Communicator::perform(call);
  }
}

bool SimCommunicator::with_all_there(const std::function<void()>& collectives) {
  if (!member_.simulation.losses().any()) return Communicator::with_all_there(collectives);
  try {
    collectives();
    return true;
  } catch (const BackendError&) {
    if (!member_.group->lacks_one()) throw;
    return false;
  }
}

std::optional<std::int64_t> SimCommunicator::sent_to_other_nodes() const {
  if (!all_reduce_algorithm().pipelined()) return std::nullopt;
  return pipelined_collectives_.sent_to_other_nodes();
}

// Costs no simulated time. What all have brought is copied once all are there: who goes on first may bring the next.
std::vector<std::int64_t> SimCommunicator::all_gather_number(std::int64_t value) {
  Meeting& meeting = member_.group->meeting();
  meeting.brought[static_cast<std::size_t>(member_.rank)] = value;
  const Blocked blocked(member_.simulation.watch(),
                        member_.simulation.watch().op(member_.of_world(), member_.group->lane()), "split",
                        *member_.group);
  blocking([&] {
    member_.group->meet(member_.rank, [&] {
      meeting.heard = meeting.brought;
      meeting.parts.clear();
    });
  });
  return meeting.heard;
}

std::unique_ptr<Communicator> SimCommunicator::regroup(const GroupPart& part) {
  std::shared_ptr<Group>& made = member_.group->meeting().parts[part.index];
  if (made == nullptr) {
    std::vector<int> members;
    for (const int rank : part.members) members.push_back(member_.group->member(rank));
    made = std::make_shared<Group>(member_.simulation, std::move(members), member_.group->lane(),
                                   "a group split from " + member_.group->name());
  }
  const auto rank = static_cast<int>(std::ranges::find(part.members, member_.rank) - part.members.begin());
  return std::make_unique<SimCommunicator>(made, rank, member_.device, fluid_);
}

}  // namespace trigram::sim
