// A training whose members change: epoch by epoch, each of which goes on from what the one before handed over.
#pragma once

#include <cstdint>
#include <vector>

#include "core/members/membership.hpp"
#include "core/training/training.hpp"

namespace trigram {

/// An epoch as it was.
struct EpochRecord {
  MemberEpoch epoch = {};
  std::int64_t steps = 0;
  double begin_s = 0;     ///< when its first step could begin
  double end_s = 0;       ///< when its last step ended, or would have without waits for who was lost
  double recovery_s = 0;  ///< from the end of the epoch before to its begin
  double lost_s = 0;      ///< of that, the step that was cut off, and until that was noticed
};

/// What it came to: of the last members, with rows of all, and its epochs.
struct MemberTraining {
  Training training;
  std::vector<EpochRecord> epochs;
};

/// What a change of members takes, in simulated seconds, beside what travels.
struct ChangeTimes {
  double detection_s = 1;  ///< until it is noticed that a member is lost, once its step, or message, should have ended
  double meeting_s = 0;    ///< until those who are there then can train
};

/// Checks that a backend and a mesh can have members that change, and that every epoch that is known can train. Throws
/// UsageError, which names the first that cannot.
void check_members(const TrainingOptions& options, const World& world, const Backend& backend,
                   const std::vector<MemberEpoch>& epochs);

/// Ranks meet at each border of epochs as at a checkpoint. Whoever joins fetches its state from a member that stays,
/// which takes the time of its bytes. What comes by the clock comes at the first border at or after its time. Who is
/// lost then cuts its step off, and what comes until that is noticed is one change with it; an epoch has a step at
/// least. Where the algorithm bears absence, and there is no hierarchy, the others leave out who is lost until the end
/// of that step, of which nothing is undone. Throws UsageError for an epoch that cannot train, and for changes by the
/// clock where time is not simulated.
MemberTraining train_with_members(Backend& backend, const World& world, const TrainingOptions& options,
                                  Membership& membership, ChangeTimes times = {});

}  // namespace trigram
