// What code of another language and its lane say to each other, as JSON: one wording, whatever carries it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "core/foreign/foreign_algorithm.hpp"

namespace trigram {

/// {"hook", "bucket", "step", "steps", "learning_rate", "lane"}; in "setup" also "groups", as {"all": [rank, size],
/// …}, and what the run has for "hierarchy" and for "gradients", a type.
nlohmann::json message_of_hook(ForeignLane& lane, const std::string& hook, int bucket);
/// {"task": number, "step", …}.
nlohmann::json message_of_task(ForeignLane& lane, std::int64_t number);
/// {"exchange": bucket, "step", …}.
nlohmann::json message_of_exchange(ForeignLane& lane, int bucket);

/// Does what is asked for within a hook, {"ask": "start" | "wait" | "done" | "communicates" | "record" | "charge" |
/// "now" | "list" | "list_text", …}, and gives the answer, which is null where there is none. Throws Error for another
/// word.
nlohmann::json answer_to(ForeignLane& lane, const nlohmann::json& asked);

/// A collective as {"collective", "op", "peer", "peers", "sent"}, its buffers still to come. Throws UsageError for an
/// op that is none.
GroupCall group_call_of(const nlohmann::json& asked);

}  // namespace trigram
