// The backend "threads", a double for tests: one thread a rank, one more for every lane, real races.
#include <algorithm>
#include <thread>

#include "core/all_reduce.hpp"
#include "tests/support/thread_entrance.hpp"
#include "tests/support/thread_world.hpp"

namespace trigram {

namespace {

class ThreadBackend final : public Backend {
 public:
  explicit ThreadBackend(Params& params)
      : ranks_per_node_(params.get("ranks_per_node", 4, "ranks of one node; the last node may have fewer")),
        timeout_(params.get("timeout", "60s", Unit::seconds, "how long an exchange may wait")),
        mutation_(thread_mutation(params.get("mutation", "none", "what it does wrong, for tests to find"))) {
    require(ranks_per_node_ >= 1,
            "threads: ranks_per_node is " + std::to_string(ranks_per_node_) + "; a node has at least one rank");
  }

  std::vector<int> nodes(int ranks) const override {
    std::vector<int> node_of_rank;
    for (int r = 0; r < ranks; ++r) node_of_rank.push_back(r / ranks_per_node_);
    return node_of_rank;
  }

  int default_ranks() const override { return 8; }
  bool simulated() const override { return false; }

  std::string refuses_entering() const override { return {}; }

  /// The thread that calls becomes a rank; as many calls as the world has ranks make one world.
  std::unique_ptr<EnteredRank> enter(const World& world) override {
    return entrance_.enter(world, nodes(world.ranks), timeout_);
  }

  Outcome run(const World& world, const RankBody& body) override {
    require(world.ranks >= 1, "threads: a world has at least one rank, not " + std::to_string(world.ranks));
    all_reduce_named(world.all_reduce);
    World asked = world;
    if (mutation_ == ThreadMutation::takes_another_all_reduce) asked.all_reduce = "recursive_doubling";
    ThreadWorld shared(asked, nodes_of_lanes(world.ranks), timeout_, mutation_);
    Outcome outcome;
    outcome.results.resize(static_cast<std::size_t>(world.ranks));
    outcome.facts = R"({"ranks_per_node":)" + std::to_string(ranks_per_node_) + "}";
    std::vector<std::thread> threads;
    for (int rank = 0; rank < world.ranks; ++rank) {
      threads.emplace_back(
          [&, rank] { run_rank(shared, rank, body, outcome.results[static_cast<std::size_t>(rank)]); });
    }
    for (std::thread& thread : threads) thread.join();
    outcome.seconds = shared.clock().now();
    shared.rethrow_failure();
    return outcome;
  }

 private:
  std::vector<int> nodes_of_lanes(int ranks) const {
    std::vector<int> node_of_rank = nodes(ranks);
    if (mutation_ == ThreadMutation::mixes_up_nodes) std::ranges::rotate(node_of_rank, node_of_rank.begin() + 1);
    return node_of_rank;
  }

  static void run_rank(ThreadWorld& shared, int rank, const RankBody& body, std::vector<std::byte>& result) {
    ThreadRuntime runtime(shared, rank);
    std::exception_ptr error;
    try {
      result = body(runtime);
    } catch (...) {
      error = std::current_exception();
    }
    if (error != nullptr) shared.fail(std::move(error));
  }

  int ranks_per_node_;
  double timeout_;
  ThreadMutation mutation_;
  ThreadEntrance entrance_;
};

const Backends::Registration registration("threads", {"one thread a rank in this process, for tests"},
                                          [](Params& params) { return std::make_unique<ThreadBackend>(params); });

}  // namespace

}  // namespace trigram
