// ZeRO-1 (Rajbhandari et al., SC 2020, arXiv:1910.02054): each rank gets the mean gradient of its part of every bucket,
// keeps the optimizer's state of that part alone and steps it; then weights are gathered.
#include "core/step/bucketwise.hpp"

namespace trigram {
namespace {

class ShardedOptimizer final : public GradientMethod {
 public:
  Trigram trigram() const override {
    return {Trigram::Synchrony::synchronous, Trigram::Precision::full, Trigram::Centrality::centralized};
  }
  Refusal refuses(Option option) const override {
    return option == Option::overlap ? Refusal{} : "every rank has its own part of the flat group";
  }
  Cost cost(const CostQuery& query) const override {
    return sum_over_buckets(query, [&](const Shape& bucket) {
      const auto [ranks, rank] = std::pair(query.place.ranks, query.place.rank);
      const std::int64_t element = size_of(bucket.dtype);
      return reduce_scatter_cost(ranks, rank, bucket.modelled_count, element) +
             all_gather_cost(ranks, rank, bucket.modelled_count, element);
    });
  }

  std::optional<Bucket> stepped(const Worker& worker, const Bucket& bucket) const override {
    return bucket.part(worker.rank(), worker.world_size());
  }
  void after_update(Worker& worker, Bucket& bucket) override {
    gathers_.start(worker, bucket, [&bucket](Worker& lane) { lane.comm.all_gather(bucket.weights); });
  }
  void after_step(Worker&) override { gathers_.wait(); }

 private:
  void exchange(Worker& lane, Bucket& bucket) override { lane.comm.reduce_scatter(bucket.gradients, ReduceOp::mean); }

  PendingBuckets gathers_;
};

const Algorithms::Registration registration("newcomer/sharded_optimizer",
                                            {"keep a part of the optimizer's state a rank"},
                                            [](Params&) { return std::make_unique<ShardedOptimizer>(); });

}  // namespace
}  // namespace trigram
