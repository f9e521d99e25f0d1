// Who trains when: a schedule of members that join, leave and are lost, and the epochs that it makes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trigram {

/// Members have numbers that stay: 0, 1, … begin, and who joins gets the next one, which nobody has again.
struct MemberEvent {
  enum class Kind : std::uint8_t {
    join,   ///< so many come
    leave,  ///< a member goes, and hands over what it holds
    lose    ///< a member dies: what it held is gone, and so is the step that it cut off
  };
  std::int64_t step = 0;  ///< the border: so many steps are done
  Kind kind = Kind::join;
  int member = 0;  ///< or how many join
};

/// From one border of steps to the next, an ordered list of members: a member's place in it is its rank.
struct MemberEpoch {
  std::int64_t begin = 0;  ///< steps that are done when it begins
  std::vector<int> members = {};
  std::vector<int> were = {};  ///< of each, its rank in the epoch before; MemberChange::newcomer where it had none
  std::vector<int> joined = {}, left = {}, lost = {};
};

/// Events, one a line, in the order of steps: "at 40 lose 3", "at 60 join 2", "at 80 leave 0, 5", and comments behind
/// #. Throws UsageError, which names the line.
std::vector<MemberEvent> parse_membership(const std::string& text);

/// Throws UsageError for a member that is not there, for a step that is not within training, and where nobody is left.
std::vector<MemberEpoch> member_epochs(int ranks, std::int64_t steps, const std::vector<MemberEvent>& events);

}  // namespace trigram
