// The backend 'mpi': one process a rank, started by mpirun or srun.
#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "backends/mpi/bootstrap.hpp"
#include "backends/mpi/runtime.hpp"
#include "backends/mpi/session.hpp"
#include "core/backend_traits.hpp"
#include "core/error.hpp"
#include "core/quoted.hpp"
#include "core/registry.hpp"

namespace trigram::mpi {
namespace {

/// Whose loop a rank runs: after a failure ours goes on to another run or ends with a status, a guest's may do neither.
enum class Loop : std::uint8_t { ours, of_a_guest };

/// This process as a rank, for one run.
class MpiRank final : public EnteredRank {
 public:
  MpiRank(const World& world, const RuntimeOptions& options, std::string facts, Loop loop)
      : runtime_(world, options), facts_(std::move(facts)), loop_(loop) {
    try {
      runtime_.begin();
    } catch (...) {
      fail(std::current_exception());
      throw;
    }
  }
  ~MpiRank() override {
    if (ended_) return;
    fail(std::make_exception_ptr(Error("a rank neither left its world nor failed")));
    runtime_.stop_lanes();
    Session::forsake();
  }

  RankRuntime& runtime() override { return runtime_; }

  Outcome leave(const std::vector<std::byte>& result) override {
    const double ended = runtime_.now();
    Outcome outcome;
    outcome.results = runtime_.exchange_results(result);
    outcome.seconds = runtime_.latest(ended);
    outcome.facts = facts_;
    ended_ = true;
    return outcome;
  }

  void fail(std::exception_ptr error) noexcept override {
    runtime_.fail(std::move(error));
    ended_ = true;
    if (loop_ == Loop::of_a_guest) Session::forsake();
  }

 private:
  MpiRuntime runtime_;
  std::string facts_;
  Loop loop_;
  bool ended_ = false;
};

class MpiBackend final : public Backend {
 public:
  explicit MpiBackend(Params& params)
      : ranks_per_node_(params.get("ranks_per_node", 0, "ranks of a node; 0: those that share memory")),
        collectives_(
            params.get("collectives", "own", "own: bit-identical to the simulator; vendor: the MPI library's")),
        timeout_(
            params.get("timeout", "300s", Unit::seconds,
                       "how long ranks may take to meet, and an exchange to end, before the job ends; 0: forever")) {
    require(ranks_per_node_ >= 0,
            params.owner() + ": ranks_per_node=" + std::to_string(ranks_per_node_) + " is less than 0");
    require(collectives_ == "own" || collectives_ == "vendor",
            params.owner() + ": collectives=" + shown(collectives_) + " is neither own nor vendor");
  }

  int default_ranks() const override { return session().ranks(); }

  std::vector<int> nodes(int ranks) const override {
    const int started = session().ranks();
    require(ranks == started, "the run asks for " + std::to_string(ranks) + " ranks, but MPI started " +
                                  std::to_string(started) + "; start it with: " + launch_command(ranks));
    if (ranks_per_node_ == 0) return session().node_of_rank();
    std::vector<int> node_of_rank;
    for (int rank = 0; rank < ranks; ++rank) node_of_rank.push_back(rank / ranks_per_node_);
    return node_of_rank;
  }

  bool simulated() const override { return false; }
  bool spans_processes() const override { return true; }
  int process_rank() const override { return session().rank(); }

  std::string refuses_entering() const override { return {}; }

  std::unique_ptr<EnteredRank> enter(const World& world) override { return rank(world, Loop::of_a_guest); }

  Outcome run(const World& world, const RankBody& body) override { return run_entered(*rank(world, Loop::ours), body); }

 private:
  Session& session() const { return Session::join(timeout_); }

  std::unique_ptr<EnteredRank> rank(const World& world, Loop loop) const {
    const std::vector<int> node_of_rank = nodes(world.ranks);
    const nlohmann::json facts{{"library", session().library()},
                               {"launcher", session().launcher()},
                               {"nodes", 1 + *std::max_element(node_of_rank.begin(), node_of_rank.end())},
                               {"collectives", collectives_}};
    return std::make_unique<MpiRank>(
        world, RuntimeOptions{collectives_ == "vendor", timeout_, session().rank(), node_of_rank}, facts.dump(), loop);
  }

  int ranks_per_node_;
  std::string collectives_;
  double timeout_;
};

const Backends::Registration registration("mpi", {"a CPU cluster: one process a rank, started by mpirun or srun"},
                                          [](Params& params) { return std::make_unique<MpiBackend>(params); });

const BackendTraits::Registration traits("mpi", {.flags = {{"ranks-per-node", "ranks_per_node", "ranks of a node"}},
                                                 .own_messages = {{"collectives", "own", /*same_bits=*/false}}});

}  // namespace
}  // namespace trigram::mpi
