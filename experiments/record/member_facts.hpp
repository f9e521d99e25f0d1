// What a change of members cost, for run.json and epochs.csv.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/members/member_training.hpp"
#include "experiments/settings/run_config.hpp"

namespace trigram {

/// The epochs that --membership asks for, of a run that begins with so many ranks; none without it. Throws UsageError,
/// which names the file.
std::vector<MemberEpoch> epochs_of(const RunConfig& config, int ranks);

/// "goodput", the share of the time in which steps were made that count, "recovery_s", "lost_s", and "epochs"; times
/// are null where they are no model's.
nlohmann::json member_facts(const std::vector<EpochRecord>& epochs, bool simulated);

/// A row an epoch, from those facts.
std::string epochs_csv(const nlohmann::json& facts);

}  // namespace trigram
