// The backend 'threads': ranks of this machine as threads of one process, with real concurrency and without MPI.
#include <algorithm>
#include <mutex>
#include <nlohmann/json.hpp>
#include <system_error>
#include <thread>

#include "backends/process/entered_process.hpp"
#include "backends/process/threaded_runtime.hpp"
#include "backends/threads/transport.hpp"
#include "core/registry/backend_traits.hpp"
#include "core/registry/registry.hpp"
#include "core/values/error.hpp"
#include "core/world/nodes_of_ranks.hpp"

namespace trigram::threads {
namespace {

/// Each has threads for its lanes, and weights of its own.
constexpr int most_ranks = 256;

class ThreadsBackend final : public Backend {
 public:
  explicit ThreadsBackend(Params& params)
      : ranks_per_node_(
            params.get("ranks_per_node", 0, "ranks of a node; 0: all, since they share this machine", {0, 1 << 20})),
        timeout_(
            params.get("timeout", "300s", Unit::seconds,
                       "how long ranks may take to meet, and an exchange to end, before the run ends; 0: forever")) {}

  /// One for each core.
  int default_ranks() const override { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

  std::vector<int> nodes(int ranks) const override {
    require(ranks >= 1, "backend 'threads': ", ranks, " ranks cannot run; ask for 1 or more");
    require(ranks <= most_ranks, "backend 'threads' runs ", most_ranks, " ranks at most, all on this machine, and not ",
            ranks, "; simulate more with --backend sim");
    return nodes_of_ranks(ranks, ranks_per_node_);
  }

  bool simulated() const override { return false; }
  std::string refuses_entering() const override { return {}; }

  /// The thread that calls becomes a rank; as many calls as the world has ranks make one world.
  std::unique_ptr<EnteredRank> enter(const World& world) override {
    static_cast<void>(nodes(world.ranks));
    const auto [network, rank] = next_place(world.ranks);
    return rank_of(network, rank, world, Loop::callers);
  }

  Outcome run(const World& world, const RankBody& body) override {
    static_cast<void>(nodes(world.ranks));
    const auto network = std::make_shared<Network>(world.ranks);
    std::vector<Outcome> outcomes(static_cast<std::size_t>(world.ranks));
    std::vector<std::exception_ptr> errors(outcomes.size());  // each for its own thread, until all have ended
    std::vector<std::thread> threads;
    const auto run_rank = [&](int rank) {
      try {
        outcomes[static_cast<std::size_t>(rank)] = run_entered(*rank_of(network, rank, world, Loop::ours), body);
      } catch (...) {
        errors[static_cast<std::size_t>(rank)] = std::current_exception();
        network->ending.fail(rank, std::current_exception());
      }
    };
    try {
      for (int rank = 0; rank < world.ranks; ++rank) threads.emplace_back(run_rank, rank);
    } catch (const std::system_error& error) {
      const std::string rank = std::to_string(threads.size());
      std::exception_ptr& none = errors[threads.size()];
      none = std::make_exception_ptr(BackendError("backend 'threads': this machine gives no thread for rank " + rank +
                                                  " of " + std::to_string(world.ranks) + ": " + error.what()));
      network->ending.fail(static_cast<int>(threads.size()), none);
    }
    for (std::thread& thread : threads) thread.join();
    if (network->ending.over()) std::rethrow_exception(errors[static_cast<std::size_t>(network->ending.failed())]);
    return std::move(outcomes.front());
  }

 private:
  std::unique_ptr<EnteredRank> rank_of(const std::shared_ptr<Network>& network, int rank, const World& world,
                                       Loop loop) const {
    const std::vector<int> node_of_rank = nodes(world.ranks);
    const nlohmann::json facts{{"nodes", node_of_rank.back() + 1}, {"ranks_per_node", ranks_per_node_}};
    auto runtime = std::make_unique<ThreadedRuntime>(std::make_unique<ThreadTransport>(network, rank), world,
                                                     node_of_rank, timeout_);
    return std::make_unique<EnteredProcess>(std::move(runtime), facts.dump(), loop);
  }

  /// Worlds fill with ranks in the order in which they come.
  std::pair<std::shared_ptr<Network>, int> next_place(int ranks) {
    const std::lock_guard lock(mutex_);
    if (filling_ == nullptr || filling_->ending.over()) {
      filling_ = std::make_shared<Network>(ranks);
      came_ = 0;
    }
    const std::shared_ptr<Network> network = filling_;
    require(ranks == network->gatherings.ranks(), "a world of ", ranks, " ranks is entered while one of ",
            network->gatherings.ranks(), " fills; all who enter must name the same number");
    const int rank = came_++;
    if (came_ == ranks) filling_ = nullptr;
    return {network, rank};
  }

  int ranks_per_node_;
  double timeout_;
  std::mutex mutex_;
  std::shared_ptr<Network> filling_;  ///< null where nobody waits
  int came_ = 0;
};

const Backends::Registration registration("threads", {"ranks of this machine as threads of one process, without MPI"},
                                          [](Params& params) { return std::make_unique<ThreadsBackend>(params); });

const BackendTraits::Registration traits("threads",
                                         {.flags = {{"ranks-per-node", "ranks_per_node", "ranks of a node"}}});

}  // namespace
}  // namespace trigram::threads
