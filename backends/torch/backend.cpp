// The backend 'torch': processes that torch.distributed connects, as those of torchrun.
#include <optional>

#include "backends/torch/runtime.hpp"
#include "core/backend_traits.hpp"
#include "core/registry.hpp"

namespace trigram::torch {
namespace {

/// This process as a rank, for one run.
class TorchRank final : public EnteredRank {
 public:
  TorchRank(const Transport& transport, const World& world, const Place& place, std::vector<int> node_of_rank,
            double timeout)
      : runtime_(transport, world, place, std::move(node_of_rank), timeout), facts_(place.facts) {
    try {
      runtime_.begin();
    } catch (...) {
      fail(std::current_exception());
      throw;
    }
  }
  ~TorchRank() override {
    if (ended_) return;
    fail(std::make_exception_ptr(Error("a rank neither left its world nor failed")));
    runtime_.stop_lanes();
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
    runtime_.fail(error);
    ended_ = true;
  }

 private:
  TorchRuntime runtime_;
  std::string facts_;
  bool ended_ = false;
};

class TorchBackend final : public Backend {
 public:
  explicit TorchBackend(Params& params)
      : ranks_per_node_(params.get("ranks_per_node", 0, "ranks of a node; 0: those of one host", {0, 1 << 20})),
        timeout_(
            params.get("timeout", "300s", Unit::seconds,
                       "how long ranks may take to meet, and an exchange to end, before the job ends; 0: forever")) {}

  int default_ranks() const override { return place().ranks(); }

  std::vector<int> nodes(int ranks) const override {
    require(ranks == default_ranks(), "the run asks for ", ranks, " ranks, but torch.distributed connects ",
            default_ranks(), " processes; start so many, as by: torchrun --nproc-per-node ", ranks, " train.py");
    if (ranks_per_node_ == 0) return place().nodes;
    std::vector<int> node_of_rank;
    for (int rank = 0; rank < ranks; ++rank) node_of_rank.push_back(rank / ranks_per_node_);
    return node_of_rank;
  }

  bool simulated() const override { return false; }
  bool spans_processes() const override { return true; }
  int process_rank() const override { return place().rank; }

  std::string refuses_entering() const override { return {}; }

  std::unique_ptr<EnteredRank> enter(const World& world) override {
    return std::make_unique<TorchRank>(transport_in_use(), world, place(), nodes(world.ranks), timeout_);
  }

  Outcome run(const World& world, const RankBody& body) override { return run_entered(*enter(world), body); }

 private:
  /// Collective at the first call.
  const Place& place() const {
    if (!place_) place_ = join(transport_in_use(), timeout_);
    return *place_;
  }

  int ranks_per_node_;
  double timeout_;
  mutable std::optional<Place> place_;
};

const Backends::Registration registration(
    "torch", {"processes that torch.distributed connects, as those of torchrun; for trigram.with_trigram alone"},
    [](Params& params) { return std::make_unique<TorchBackend>(params); });

const BackendTraits::Registration traits("torch", {.flags = {{"ranks-per-node", "ranks_per_node", "ranks of a node"}}});

}  // namespace
}  // namespace trigram::torch
