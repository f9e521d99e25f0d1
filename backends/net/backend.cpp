// The backend 'net': CPU ranks that a net plugin for NCCL connects, driven through its table of functions.
#include <algorithm>
#include <optional>

#include "backends/gpu/host/job_membership.hpp"
#include "backends/net/network.hpp"
#include "backends/net/plugin_file.hpp"
#include "backends/process/threaded_runtime.hpp"
#include "backends/torch/transport.hpp"
#include "core/registry/backend_traits.hpp"
#include "core/registry/registry.hpp"
#include "core/training/carried_error.hpp"
#include "core/values/error.hpp"
#include "core/world/nodes_of_ranks.hpp"
#include "meeting/local_ranks.hpp"

namespace trigram::net_backend {
namespace {

/// Ranks that are forked; each has connections with each.
constexpr int most_of_its_own = 64;

class NetBackend final : public Backend {
 public:
  explicit NetBackend(Params& params)
      : ranks_per_node_(params.get("ranks_per_node", 0, "ranks of a node; 0: those of one host", {0, 1 << 20})),
        timeout_(
            params.get("timeout", "300s", Unit::seconds,
                       "how long ranks may take to meet, and an exchange to end, before the job ends; 0: forever")),
        plugin_(params.get("plugin", "", "the library of a net plugin, FILE or FILE:VERSION; empty: ours")),
        rendezvous_(params.get("rendezvous", "",
                               "where the ranks of a launched job meet: file:PATH, tcp:HOST:PORT or mpi; empty: where "
                               "the launcher says")) {}

  int default_ranks() const override { return member_ ? member_->ranks : 2; }

  std::vector<int> nodes(int ranks) const override {
    require(ranks >= 1, ranks, " ranks cannot run; ask for 1 or more");
    require(member_ || ranks <= most_of_its_own, "backend 'net' starts ", most_of_its_own,
            " ranks by itself at most, all on this machine, and not ", ranks,
            "; start more with torchrun, mpirun or srun");
    require(!member_ || ranks == member_->ranks, "the run asks for ", ranks, " ranks, but ",
            member_ ? member_->launcher : "", " started ", member_ ? member_->ranks : 0,
            "; ask for as many, or start as many");
    if (ranks_per_node_ == 0 && member_) return gpu::number_hosts(job().locations());
    return nodes_of_ranks(ranks, ranks_per_node_);
  }

  bool simulated() const override { return false; }
  bool spans_processes() const override { return member_.has_value(); }
  int process_rank() const override { return member_ ? member_->rank : 0; }

  std::string refuses_entering() const override {
    if (member_) return {};
    return "backend 'net' starts its ranks itself where no launcher has, so that none can enter: start the processes "
           "with torchrun, mpirun or srun";
  }

  std::unique_ptr<EnteredRank> enter(const World& world) override {
    require(member_.has_value(), refuses_entering());
    return rank_of(joined(), world, job().locations().front().host, Loop::callers);
  }

  Outcome run(const World& world, const RankBody& body) override {
    if (member_) return run_entered(*rank_of(joined(), world, job().locations().front().host, Loop::ours), body);
    nodes(world.ranks);
    const std::vector<Bytes> results = run_local_ranks(world.ranks, [&](const LocalRank& self) {
      const auto rendezvous = meet(self.member.rendezvous, self.member, {timeout_});
      Network network(*rendezvous, plugin());
      const RankBody reported = [&](RankRuntime& runtime) { return with_report(self, body, runtime); };
      Outcome outcome = run_entered(*rank_of(network, world, "127.0.0.1", Loop::ours), reported);
      Bytes packed = self.member.rank == 0 ? pack(std::move(outcome)) : Bytes();
      rendezvous->leave();
      return packed;
    });
    return unpack_outcome(results.front());
  }

 private:
  gpu::JobMembership& job() const { return gpu::JobMembership::join(*member_, rendezvous_, {timeout_}); }
  std::string plugin() const { return plugin_.empty() ? own_plugin() : plugin_; }

  /// Of a launched process; it ends with the process, as the job does.
  Network& joined() const {
    static Network network(job().rendezvous(), plugin());
    return network;
  }

  /// Whoever started this rank hears of its error before the other ranks do.
  static std::vector<std::byte> with_report(const LocalRank& self, const RankBody& body, RankRuntime& runtime) {
    try {
      return body(runtime);
    } catch (const std::exception&) {
      self.report(CarriedError::of(std::current_exception()));
      throw;
    }
  }

  /// `host`: where rank 0 is reached.
  std::unique_ptr<EnteredRank> rank_of(Network& network, const World& world, const std::string& host, Loop loop) const {
    torch::Place place;
    place.rank = network.rendezvous().rank();
    place.node_of_rank = nodes(world.ranks);
    place.host = place.listens = host;
    nlohmann::json facts = network.facts();
    facts["nodes"] = 1 + *std::ranges::max_element(place.node_of_rank);
    facts["launcher"] = member_ ? member_->launcher : "none";
    auto transport = std::make_unique<torch::TorchTransport>(network.functions(), place, timeout_);
    auto runtime = std::make_unique<ThreadedRuntime>(std::move(transport), world, place.node_of_rank, timeout_);
    return std::make_unique<EnteredProcess>(std::move(runtime), facts.dump(), loop);
  }

  int ranks_per_node_;
  double timeout_;
  std::string plugin_;
  std::string rendezvous_;
  std::optional<Member> member_ = member_of(launcher_environment());
};

const Backends::Registration registration(
    "net", {"CPUs that a net plugin for NCCL connects, ours or another: one process a rank"},
    [](Params& params) { return std::make_unique<NetBackend>(params); });

const BackendTraits::Registration traits(
    "net", {.flags = {{"ranks-per-node", "ranks_per_node", "ranks of a node"},
                      {"rendezvous", "rendezvous", "where launched ranks meet: file:PATH, tcp:HOST:PORT or mpi",
                       /*of_one_process=*/true}}});

}  // namespace
}  // namespace trigram::net_backend
