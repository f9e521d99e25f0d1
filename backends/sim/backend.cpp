// The backend "sim": ranks as actors of SimGrid, every run in a process of its own.
#include "core/training/backend.hpp"

#include <algorithm>

#include "backends/sim/cluster/cluster.hpp"
#include "backends/sim/engine/engine.hpp"
#include "backends/sim/platform/platform_file.hpp"
#include "backends/sim/ranks.hpp"
#include "core/lane/all_reduce.hpp"
#include "core/registry/backend_traits.hpp"
#include "core/values/error.hpp"
#include "core/values/memory.hpp"
#include "core/values/quoted.hpp"
#include "processes/child_process.hpp"

namespace trigram::sim {

namespace {

class SimBackend final : public Backend {
 public:
  explicit SimBackend(Params& params) : cluster_(params) {
    if (!cluster_.platform.empty()) hosts_ = hosts_of_platform_file(cluster_.platform);
  }

  std::vector<int> nodes(int ranks) const override {
    check_memory(ranks, LaneLayout(), Mesh(ranks));
    return cluster_.nodes_of(ranks);
  }
  int default_ranks() const override { return cluster_.platform.empty() ? cluster_.default_ranks() : hosts_; }
  bool simulated() const override { return true; }
  std::string all_reduce_here(const std::string& asked) const override {
    const Links links = cluster_.links();
    const std::string knowing = all_reduce_named(asked).knowing(links);
    require(knowing.empty() || links.nics > 0, "all-reduce ", Quoted(asked),
            " chooses by what data sheets say of links, which a platform file does not tell; use --all-reduce "
            "multi_rail_ring, or a cluster of nodes and links");
    return knowing.empty() ? asked : knowing;
  }
  std::string refuses_entering() const override {
    return "backend 'sim' starts its ranks itself, in a process of its own, so that none can enter: give it a workload "
           "to train (`trigram run`, or Backend::run), or enter backend mpi";
  }

  Outcome run(const World& asked, const RankBody& body) override {
    World world = asked;
    world.all_reduce = all_reduce_here(asked.all_reduce);
    cluster_.nodes_of(world.ranks);
    require(cluster_.nic_handshake == 0 || !all_reduce_named(world.all_reduce).pipelined(),
            "'nic_handshake' tells messages by their size, which the chunks of all-reduce ", Quoted(world.all_reduce),
            " flow past; use --all-reduce ring, or nic_handshake=0");
    const LaneLayout layout = world.layout();
    check_memory(world.ranks, layout, world.axes());
    return unpack_outcome(run_in_child("the simulation", [&] {
      start_engine(std::int64_t{world.ranks} * layout.lanes());
      // Never destroyed: actors that were killed may still refer to it.
      return pack((new Ranks(cluster_, world))->run(body));
    }));
  }

 private:
  /// What ranks, lanes with their axes, and the ways inside nodes were seen to take.
  void check_memory(int ranks, const LaneLayout& layout, const Mesh& mesh) const {
    constexpr double of_a_rank = 10e3, of_an_axis = 3e3, of_a_way = 100;
    const double of_a_lane = 17e3 + static_cast<double>(mesh.axes().size() - 1) * of_an_axis;
    const double gpus = cluster_.platform.empty() ? *std::max_element(cluster_.gpus.begin(), cluster_.gpus.end()) : 0;
    const double touched = ranks * (of_a_rank + layout.lanes() * of_a_lane + gpus * of_a_way);
    require_memory(touched, std::to_string(ranks) + " simulated ranks");
    // SimGrid has no error for a stack that it cannot reserve. Which lanes a run starts is known only as it does.
    require_address_space(touched + static_cast<double>(ranks * layout.lanes() * stack_bytes),
                          std::to_string(ranks) + " simulated ranks of " + std::to_string(layout.lanes()) + " lanes");
  }

  Cluster cluster_;
  int hosts_ = 0;  ///< of its platform file
};

const Backends::Registration registration("sim", {"simulated cluster on SimGrid: exact messages or fluid collectives"},
                                          [](Params& params) { return std::make_unique<SimBackend>(params); });

const BackendTraits::Registration traits("sim", {.takes_cluster = true,
                                                 .flags = {{"ranks-per-node", "ranks_per_node", "ranks of a node"},
                                                           {"fidelity", "fidelity",
                                                            "how a simulation counts messages: exact or fluid"}},
                                                 .own_messages = {{"fidelity", "exact"}}});

}  // namespace

}  // namespace trigram::sim
