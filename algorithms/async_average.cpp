// Asynchronous model averaging: a background lane averages snapshots of all weights while ranks go on training; what a
// rank learned meanwhile is kept: x ← x + (mean of snapshots − own snapshot), so the mean over ranks never moves.
// It records `staleness`: the steps that a rank has made since others last learned of any, 0 in the warm-up.
//   rounds 2(n−1) and bytes 2 S (n−1)/n a rank and averaging with the ring, plus one flag; hides behind everything.
#include "core/bucketwise.hpp"
#include "core/primitives/background.hpp"
#include "core/primitives/centralized.hpp"

namespace trigram {
namespace {

class AsyncAverage final : public Algorithm {
 public:
  explicit AsyncAverage(Params& params)
      : every_(read_every(params, 1)),
        warmup_(params.get("warmup", std::int64_t{0}, "first steps, which average gradients instead")) {
    require(warmup_ >= 0, params.owner() + ": warmup=" + std::to_string(warmup_) + " is negative");
  }

  Trigram trigram() const override {
    return {Trigram::Synchrony::asynchronous, Trigram::Precision::full, Trigram::Centrality::centralized};
  }
  bool deterministic() const override { return false; }
  std::vector<std::string> trials() const override { return {"", "every=2,warmup=3"}; }

  /// Of one averaging; how many there are is up to the clock.
  Cost cost(const CostQuery& query) const override {
    if (query.step >= warmup_) return background_average_cost(query);
    return sum_over_buckets(query, [&](const Shape& bucket) { return centralized_full_precision_cost(query, bucket); });
  }

  void setup(Worker& worker, std::span<Bucket> buckets) override { average_.setup(worker, buckets); }

  void gradients_ready(Worker& worker, Bucket& bucket) override {
    if (worker.step >= warmup_) return;
    warmup_pending_.start(worker, bucket,
                          [&bucket](Worker& lane) { centralized_full_precision(lane, bucket.gradients); });
  }
  void before_update(Worker&) override { warmup_pending_.wait(); }

  void after_step(Worker& worker) override {
    if (average_.running() && average_.done()) {
      average_.merge(worker);
      shared_ = snapshot_;
    }
    if (worker.step < warmup_) shared_ = worker.step;
    worker.record("staleness", static_cast<double>(worker.step - shared_));
    const bool due = worker.step >= warmup_ && (worker.step + 1) % every_ == 0;
    if (due && !average_.running()) {
      average_.start(worker, false);
      snapshot_ = worker.step;
    }
  }

  /// Takes part in averagings until every rank wants to stop; after the last one all weights are equal.
  void quiesce(Worker& worker) override {
    if (average_.running()) average_.merge(worker);
    do {
      average_.start(worker, true);
      average_.merge(worker);
    } while (!average_.everyone_stopped(worker));
    shared_ = snapshot_ = worker.step;
  }
  void finish(Worker& worker) override { quiesce(worker); }
  void list_state(State& state) override { state.value("shared", shared_).value("snapshot", snapshot_); }

 private:
  std::int64_t every_;
  std::int64_t warmup_;
  std::int64_t shared_ = -1;    ///< the last step whose weights are in an average that was merged
  std::int64_t snapshot_ = -1;  ///< the one of the averaging that was started last
  BackgroundAverage average_;
  PendingBuckets warmup_pending_;
};

const Algorithms::Registration registration("async_average",
                                            {"average weights in the background, keep local progress",
                                             "Gan et al., Bagua, VLDB 2022, arXiv:2107.01499"},
                                            [](Params& params) { return std::make_unique<AsyncAverage>(params); });

}  // namespace
}  // namespace trigram
