// Asynchronous model averaging: a background lane averages snapshots of all weights while ranks go on training; what a
// rank learned meanwhile is kept: x ← x + (mean of snapshots − own snapshot), so the mean over ranks never moves.
//   rounds 2(n−1) and bytes 2 S (n−1)/n a rank and averaging with the ring, plus one flag; hides behind everything.
#include "core/all_reduce.hpp"
#include "core/bucketwise.hpp"
#include "core/primitives/centralized.hpp"

namespace trigram {
namespace {

class AsyncAverage final : public Algorithm {
 public:
  explicit AsyncAverage(Params& params)
      : every_(read_every(params, 1)),
        warmup_(params.get("warmup", std::int64_t{0}, "first steps, which average gradients instead")) {
    require(warmup_ >= 0, params.owner() + ": warmup=" + std::to_string(warmup_) + " is a negative number of steps");
  }

  Trigram trigram() const override {
    return {Trigram::Synchrony::asynchronous, Trigram::Precision::full, Trigram::Centrality::centralized};
  }
  bool deterministic() const override { return false; }

  /// Of one averaging; how many there are is up to the clock.
  Cost cost(const CostQuery& query) const override {
    const Cost weights =
        sum_over_buckets(query, [&](const Shape& bucket) { return centralized_full_precision_cost(query, bucket); });
    if (query.step < warmup_) return weights;
    return weights +
           AllReduces::make(query.all_reduce)->cost(query.place.ranks, query.place.rank, 1, size_of(DType::i32));
  }

  void setup(Worker& worker, std::span<Bucket> buckets) override {
    buckets_ = buckets;
    everyone_stops_ = worker.device.allocate(Shape::of(1, DType::i32));
    for (const Bucket& bucket : buckets) {
      snapshots_.push_back(worker.device.allocate(bucket.weights.shape()));
      means_.push_back(worker.device.allocate(bucket.weights.shape()));
    }
  }

  void gradients_ready(Worker& worker, Bucket& bucket) override {
    if (worker.step >= warmup_) return;
    warmup_pending_.start(worker, bucket,
                          [&bucket](Worker& lane) { centralized_full_precision(lane, bucket.gradients); });
  }
  void before_update(Worker&) override { warmup_pending_.wait(); }

  void after_step(Worker& worker) override {
    if (running_ && averaging_.done()) merge(worker);
    if (!running_ && worker.step >= warmup_ && (worker.step + 1) % every_ == 0) start_averaging(worker, false);
  }

  /// Takes part in averagings until every rank wants to stop; after the last one all weights are equal.
  void finish(Worker& worker) override {
    if (running_) merge(worker);
    do {
      start_averaging(worker, true);
      merge(worker);
    } while (!everyone_stopped(worker));
  }

 private:
  void start_averaging(Worker& worker, bool stop) {
    worker.device.fill(everyone_stops_, stop ? 1 : 0);
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      worker.device.copy(buckets_[i].weights, snapshots_[i]);
      worker.device.copy(buckets_[i].weights, means_[i]);
    }
    averaging_ = worker.start(worker.background_lane(), [this](Worker& lane) {
      lane.comm.all_reduce(everyone_stops_, ReduceOp::min);
      for (const OwnedBuffer& mean : means_) centralized_full_precision(lane, mean);
    });
    running_ = true;
  }

  void merge(Worker& worker) {
    averaging_.wait();
    running_ = false;
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      worker.device.axpby(-1.0F, snapshots_[i], 1.0F, buckets_[i].weights);
      worker.device.axpby(1.0F, means_[i], 1.0F, buckets_[i].weights);
    }
  }

  bool everyone_stopped(Worker& worker) {
    std::int32_t flag = 0;
    worker.device.download(everyone_stops_, std::as_writable_bytes(std::span(&flag, 1)));
    return flag == 1;
  }

  std::int64_t every_;
  std::int64_t warmup_;
  std::span<Bucket> buckets_;
  OwnedBuffer everyone_stops_;
  std::vector<OwnedBuffer> snapshots_;
  std::vector<OwnedBuffer> means_;
  Pending averaging_;
  PendingBuckets warmup_pending_;
  bool running_ = false;
};

const Algorithms::Registration registration("async_average",
                                            {"average weights in the background, keep local progress",
                                             "Gan et al., Bagua, VLDB 2022, arXiv:2107.01499"},
                                            [](Params& params) { return std::make_unique<AsyncAverage>(params); });

}  // namespace
}  // namespace trigram
