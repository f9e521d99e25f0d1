// Collectives that the peer asks for in the midst of something else.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "core/communicator.hpp"

namespace trigram {

/// The collective of core/outside_words.hpp, with "dtype" and "counts", on tensors that lie one after the other in
/// `bytes`, before and after it. Collective. Throws UsageError for what cannot be, before anything is sent.
void perform_for_peer(Communicator& comm, const nlohmann::json& asked, std::string& bytes);

}  // namespace trigram
