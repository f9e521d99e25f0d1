// Ranks that have met, and where each of them is.
#pragma once

#include <memory>
#include <vector>

#include "backends/gpu/host/hosts.hpp"
#include "meeting/rendezvous.hpp"

namespace trigram::gpu {

struct MetRanks {
  std::unique_ptr<Rendezvous> rendezvous;
  std::vector<RankLocation> locations;  ///< by rank, without devices
};

/// Who has met there tells where it is. Collective.
MetRanks introduced(std::unique_ptr<Rendezvous> rendezvous, Patience patience);

}  // namespace trigram::gpu
