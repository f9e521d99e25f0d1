// Data-parallel SGD: every bucket's gradient becomes the mean over all ranks, in full precision.
//   rounds 2(n−1), bytes 2 S (n−1)/n per rank with the ring; buckets overlap with the rest of backward.
#include "core/primitives/gradient_mean.hpp"
#include "core/step/bucketwise.hpp"

namespace trigram {
namespace {

class AllReduceGradients final : public GradientMethod {
 public:
  Trigram trigram() const override {
    return {Trigram::Synchrony::synchronous, Trigram::Precision::full, Trigram::Centrality::centralized};
  }

  Cost cost(const CostQuery& query) const override {
    return sum_over_buckets(query, [&](const Shape& bucket) { return gradient_mean_cost(query, bucket); });
  }

 private:
  void exchange(Worker& lane, Bucket& bucket) override { gradient_mean(lane, bucket.gradients); }
};

const Algorithms::Registration registration(
    "all_reduce",
    {"average gradients in full precision", "Li et al., PyTorch Distributed, VLDB 2020, arXiv:2006.15704",
     "The baseline: fast networks, and wherever nothing may change what is learned.",
     "Where a step waits longer for the network than it computes."},
    [](Params&) { return std::make_unique<AllReduceGradients>(); });

}  // namespace
}  // namespace trigram
