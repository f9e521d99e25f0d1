#include "backends/process/process_backend.hpp"

#include <utility>

#include "backends/process/threaded_runtime.hpp"
#include "core/values/error.hpp"
#include "core/world/nodes_of_ranks.hpp"

namespace trigram {

ProcessBackend::ProcessBackend(Params& params, const std::string& nodes_by_default)
    : ranks_per_node_(params.get("ranks_per_node", 0, "ranks of a node; 0: " + nodes_by_default, {0, 1 << 20})),
      timeout_(params.get("timeout", "300s", Unit::seconds,
                          "how long ranks may take to meet, and an exchange to end, before the job ends; 0: forever")) {
}

std::vector<int> ProcessBackend::nodes(int ranks) const {
  require(ranks == place().ranks(), "the run asks for ", ranks, " ranks, but ", how_to_start(ranks));
  if (ranks_per_node_ == 0) return place().node_of_rank;
  return nodes_of_ranks(ranks, ranks_per_node_);
}

std::unique_ptr<EnteredRank> ProcessBackend::rank_of(const World& world, Loop loop) const {
  const std::vector<int> node_of_rank = nodes(world.ranks);
  auto runtime = std::make_unique<ThreadedRuntime>(connect(), world, node_of_rank, timeout_);
  return std::make_unique<EnteredProcess>(std::move(runtime), facts(node_of_rank), loop);
}

}  // namespace trigram
