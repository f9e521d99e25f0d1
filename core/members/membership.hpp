// Who trains when: members that join, leave and are lost, and the epochs that it makes.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/registry/registry.hpp"

namespace trigram {

/// Members have numbers that stay: 0, 1, … begin, and who joins gets the next one, which nobody has again.
struct MemberEvent {
  enum class Kind : std::uint8_t {
    join,   ///< so many come
    leave,  ///< a member goes, and hands over what it holds
    lose    ///< a member dies: what it held is gone, and so is the step that it cut off
  };
  static constexpr double no_end = std::numeric_limits<double>::infinity();

  std::int64_t step = 0;  ///< the border: so many steps are done
  Kind kind = Kind::join;
  int member = 0;                     ///< or how many join
  std::optional<double> second = {};  ///< on the simulated clock, in place of a step
  double grace = no_end;              ///< seconds in which who leaves has to reach a border; then it is lost

  /// "at step 40" or "at 120s".
  std::string when() const;
};

/// Members that join, leave and are lost, in order.
class Membership {
 public:
  static constexpr const char* registry_kind = "membership";
  virtual ~Membership() = default;
  /// Called once, before `next`, for a run that begins with members 0 to ranks - 1; what is random is drawn from
  /// `seed`. Throws UsageError for a number of ranks that it cannot have.
  virtual void begin(int ranks, std::uint64_t seed) = 0;
  /// The next change; nothing where members stay as they are from then on.
  virtual std::optional<MemberEvent> next() = 0;
  /// Whether changes come at seconds of the simulated clock, or after steps.
  virtual bool by_clock() const { return true; }
};

using Memberships = Registry<Membership>;

/// From one border of steps to the next, an ordered list of members: a member's place in it is its rank.
struct MemberEpoch {
  std::int64_t begin = 0;  ///< steps that are done when it begins
  std::vector<int> members = {};
  std::vector<int> were = {};  ///< of each, its rank in the epoch before; MemberChange::newcomer where it had none
  std::vector<int> joined = {}, left = {}, lost = {};
};

/// Who is there, epoch by epoch.
class MemberRoll {
 public:
  explicit MemberRoll(int ranks);
  const MemberEpoch& epoch() const { return epoch_; }
  /// Another epoch begins after so many steps.
  void turn(std::int64_t step);
  /// At its begin. Throws UsageError for a member that is not there, and where nobody is left.
  void change(const MemberEvent& event);

 private:
  std::vector<int> before_;  ///< members of the epoch before
  MemberEpoch epoch_;
  int next_;
};

/// Those that events make of which each names a step. Throws UsageError for what a MemberRoll refuses, and for a step
/// that is not within training.
std::vector<MemberEpoch> member_epochs(int ranks, std::int64_t steps, const std::vector<MemberEvent>& events);

}  // namespace trigram
