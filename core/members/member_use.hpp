// What the members of a training used, those among them that are gone.
#pragma once

#include <cstdint>
#include <vector>

#include "core/members/membership.hpp"
#include "core/training/training.hpp"

namespace trigram {

/// Counts of a rank go on with it, and a newcomer's begin with those of the first member that was not lost (Handover):
/// so the sum over ranks is not what all that ever were there have used.
class MemberUse {
 public:
  /// After each epoch, which ended at that second.
  void add(const MemberEpoch& epoch, const Training& training, double end_s);
  /// After the last one: sums over ranks become those over all members, and reports those of ranks that were not lost
  /// within it.
  void correct(Training& training, const std::vector<LostRank>& lost) const;

 private:
  struct Counts {
    double busy_s = 0, to_other_nodes = 0;
  };
  struct Part {
    std::int64_t begin;
    RanksSince ranks;
    Counts missing;  ///< in the sum over ranks
  };

  std::vector<Part> parts_;
  std::vector<int> members_;  ///< of the last epoch
  std::vector<Counts> last_;  ///< by rank, at its end
  Counts all_;                ///< of all members until then
  double end_s_ = 0;
};

}  // namespace trigram
