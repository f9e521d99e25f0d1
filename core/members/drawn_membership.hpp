// Memberships whose changes are found one occasion after the other, each of which may bring several.
#pragma once

#include <queue>

#include "core/members/membership.hpp"

namespace trigram {

/// By the clock. A member that goes is lost, or leaves where it is told so long before its end.
class DrawnMembership : public Membership {
 public:
  /// Reads warning.
  explicit DrawnMembership(Params& params);
  std::optional<MemberEvent> next() final;

 protected:
  /// Tells what comes next by `join` and `go`; false where nothing does any more.
  virtual bool happen() = 0;
  void join(int members, double second) { told_.push({0, MemberEvent::Kind::join, members, second}); }
  void go(int member, double second);

 private:
  double warning_;
  std::queue<MemberEvent> told_;
};

}  // namespace trigram
