// Collectives that the peer asks for in the midst of something else.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "core/lane/communicator.hpp"
#include "core/lane/group_call.hpp"

namespace trigram {

/// The collective of core/foreign/foreign_messages.hpp, with "dtype", "counts" and "modelled_counts", on tensors that
/// lie one after the other in `bytes`, before and after `perform` has done it.
void perform_for_peer(Device& device, const nlohmann::json& asked, std::string& bytes,
                      const std::function<void(const GroupCall&)>& perform);
/// The same of a group. Collective. Throws UsageError for what cannot be, before anything is sent.
void perform_for_peer(Communicator& comm, const nlohmann::json& asked, std::string& bytes);

}  // namespace trigram
