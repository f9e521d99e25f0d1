// A schedule of members, written by hand.
#pragma once

#include <string>
#include <vector>

#include "core/members/membership.hpp"

namespace trigram {

/// Events, one a line, in their order: "at 40 lose 3", "at 60 join 2", "at 80 leave 0, 5", and comments behind #. A
/// number is that of steps; with a unit, as in "at 90s lose 3", it is of the simulated clock. Throws UsageError, which
/// names the line.
std::vector<MemberEvent> parse_membership(const std::string& text);

/// Events that are known before training.
class MemberSchedule final : public Membership {
 public:
  explicit MemberSchedule(std::vector<MemberEvent> events) : events_(std::move(events)) {}
  const std::vector<MemberEvent>& events() const { return events_; }

  void begin(int /*ranks*/, std::uint64_t /*seed*/) override { next_ = 0; }
  std::optional<MemberEvent> next() override {
    return next_ < events_.size() ? std::optional(events_[next_++]) : std::nullopt;
  }
  bool by_clock() const override { return !events_.empty() && events_.front().second; }

 private:
  std::vector<MemberEvent> events_;
  std::size_t next_ = 0;
};

}  // namespace trigram
