#include "core/members/drawn_membership.hpp"

namespace trigram {

DrawnMembership::DrawnMembership(Params& params)
    : warning_(params.get("warning", "0s", Unit::seconds,
                          "how long before its end a member is told, so that it can leave in order")) {}

std::optional<MemberEvent> DrawnMembership::next() {
  while (told_.empty()) {
    if (!happen()) return std::nullopt;
  }
  const MemberEvent event = told_.front();
  told_.pop();
  return event;
}

void DrawnMembership::go(int member, double second) {
  told_.push({0, warning_ > 0 ? MemberEvent::Kind::leave : MemberEvent::Kind::lose, member, second, warning_});
}

}  // namespace trigram
