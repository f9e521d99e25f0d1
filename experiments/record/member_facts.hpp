// What a change of members cost, for run.json and epochs.csv.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/members/member_training.hpp"
#include "experiments/settings/run_config.hpp"

namespace trigram {

/// What --membership asks for; nothing without it. Throws UsageError, which names the file or the product.
std::unique_ptr<Membership> membership_of(const RunConfig& config);

/// Its epochs for so many ranks, where they are known before training. Throws UsageError, which names the file.
std::vector<MemberEpoch> epochs_of(const Membership& membership, const RunConfig& config, int ranks);

/// "goodput", the share of the time in which steps were made that count, "recovery_s", "lost_s", and "epochs"; times
/// are null where they are no model's.
nlohmann::json member_facts(const std::vector<EpochRecord>& epochs, bool simulated);

/// A row an epoch, from those facts.
std::string epochs_csv(const nlohmann::json& facts);

}  // namespace trigram
