#include "core/members/membership.hpp"

#include <algorithm>

#include "core/training/member_change.hpp"
#include "core/values/error.hpp"
#include "core/values/units.hpp"

namespace trigram {
namespace {

bool contains(const std::vector<int>& members, int member) {
  return std::ranges::find(members, member) != members.end();
}

/// Of each member, its rank among those of before.
std::vector<int> ranks_among(const std::vector<int>& before, const std::vector<int>& members) {
  std::vector<int> ranks;
  for (const int member : members) {
    const auto found = std::ranges::find(before, member);
    ranks.push_back(found == before.end() ? MemberChange::newcomer : static_cast<int>(found - before.begin()));
  }
  return ranks;
}

}  // namespace

std::string MemberEvent::when() const {
  return "at " + (second ? format_quantity(*second, Unit::seconds) : "step " + std::to_string(step));
}

MemberRoll::MemberRoll(int ranks) : next_(ranks) {
  for (int rank = 0; rank < ranks; ++rank) epoch_.members.push_back(rank);
  epoch_.were = ranks_among(before_, epoch_.members);
}

void MemberRoll::turn(std::int64_t step) {
  before_ = epoch_.members;
  epoch_ = {step, before_, ranks_among(before_, before_)};
}

void MemberRoll::change(const MemberEvent& event) {
  if (event.kind == MemberEvent::Kind::join) {
    for (int i = 0; i < event.member; ++i) epoch_.joined.push_back(next_++);
    epoch_.members.insert(epoch_.members.end(), epoch_.joined.end() - event.member, epoch_.joined.end());
  } else {
    require(contains(epoch_.members, event.member), event.when(), " member ", event.member,
            " goes, who is not there; members are 0 to ranks - 1, and who joins gets the next number");
    std::erase(epoch_.members, event.member);
    // Who came and went between two borders was never there.
    if (std::erase(epoch_.joined, event.member) == 0)
      (event.kind == MemberEvent::Kind::leave ? epoch_.left : epoch_.lost).push_back(event.member);
  }
  require(!epoch_.members.empty(), event.when(), " nobody is left to train");
  epoch_.were = ranks_among(before_, epoch_.members);
}

std::vector<MemberEpoch> member_epochs(int ranks, std::int64_t steps, const std::vector<MemberEvent>& events) {
  MemberRoll roll(ranks);
  std::vector<MemberEpoch> epochs{roll.epoch()};
  for (const MemberEvent& event : events) {
    require(!event.second, event.when(), " members would change by the simulated clock, which is not here; give steps");
    require(event.step > 0 && event.step < steps, "members change at step ", event.step, ", and training has ", steps,
            " steps; give a step between");
    if (event.step != roll.epoch().begin) {
      roll.turn(event.step);
      epochs.push_back(roll.epoch());
    }
    roll.change(event);
    epochs.back() = roll.epoch();
  }
  return epochs;
}

}  // namespace trigram
