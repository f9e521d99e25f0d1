// What a Membership tells, as far ahead as somebody looks.
#pragma once

#include <deque>
#include <utility>
#include <vector>

#include "core/members/membership.hpp"

namespace trigram {

/// Changes in their order, of which the first is the next to come.
class ComingEvents {
 public:
  explicit ComingEvents(Membership& membership) : membership_(membership) {}

  void begin(int ranks, std::uint64_t seed) {
    membership_.begin(ranks, seed);
    look();
  }
  /// Null where members stay as they are from then on.
  MemberEvent* first() { return ahead_.empty() ? nullptr : &ahead_.front(); }
  void take() {
    ahead_.pop_front();
    if (ahead_.empty()) look();
  }
  /// Those by the clock that come until that second.
  std::vector<MemberEvent> until(double second) {
    while (!ahead_.empty() && ahead_.back().second.value_or(second + 1) <= second && look()) continue;
    std::vector<MemberEvent> events;
    for (const MemberEvent& event : ahead_) {
      if (event.second && *event.second <= second) events.push_back(event);
    }
    return events;
  }

 private:
  bool look() {
    const std::optional<MemberEvent> event = membership_.next();
    if (event) ahead_.push_back(*event);
    return event.has_value();
  }

  Membership& membership_;
  std::deque<MemberEvent> ahead_;
};

}  // namespace trigram
