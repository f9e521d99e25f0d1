#include "backends/gpu/host/met_ranks.hpp"

#include <utility>

namespace trigram::gpu {

MetRanks introduced(std::unique_ptr<Rendezvous> rendezvous, Patience patience) {
  MetRanks ranks{std::move(rendezvous), {}};
  for (const Bytes& part : ranks.rendezvous->all_gather(RankLocation::here().packed(), patience))
    ranks.locations.push_back(RankLocation::from(part));
  return ranks;
}

}  // namespace trigram::gpu
