// Asynchronous averaging, rarer than any short test is long, that stops where it is: ranks end with weights of their
// own.
#include "core/primitives/background.hpp"
#include "core/step/bucketwise.hpp"

namespace trigram {
namespace {

class UnfinishedAverage final : public Algorithm {
 public:
  explicit UnfinishedAverage(Params& params) : every_(read_every(params, 12)) {}

  Trigram trigram() const override {
    return {Trigram::Synchrony::asynchronous, Trigram::Precision::full, Trigram::Centrality::centralized};
  }
  Invariants invariants(const CostQuery& query) const override {
    Invariants held = Algorithm::invariants(query);
    held.replicas = Invariants::Replicas::free;
    return held;
  }
  std::vector<std::string> trials() const override { return {"", "every=3"}; }
  Cost cost(const CostQuery& query) const override {
    return begins(query.step) ? background_average_cost(query) : Cost{};
  }

  void setup(Worker& worker, std::span<Bucket> buckets) override { average_.setup(worker, buckets); }
  /// Waits a fixed number of steps, so that every rank starts as many averagings without asking the others.
  void after_step(Worker& worker) override {
    if (!begins(worker.step)) return;
    if (average_.running()) average_.merge(worker);
    average_.start(worker, false);
  }
  /// As many averagings have begun on every rank.
  void quiesce(Worker& worker) override {
    if (average_.running()) average_.merge(worker);
  }
  /// Trains on meanwhile: what is left in the background is merged, and nobody averages again.
  void finish(Worker& worker) override { quiesce(worker); }

 private:
  bool begins(std::int64_t step) const { return (step + 1) % every_ == 0; }

  std::int64_t every_;
  BackgroundAverage average_;
};

const Algorithms::Registration registration("newcomer/unfinished_average", {"average in the background, end unequal"},
                                            [](Params& params) { return std::make_unique<UnfinishedAverage>(params); });

}  // namespace
}  // namespace trigram
