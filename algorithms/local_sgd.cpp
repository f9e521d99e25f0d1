// Local SGD: every rank trains alone and all weights are averaged every `every` steps.
//   rounds 2(n−1)/every, bytes 2 S (n−1)/n / every a rank and step with the ring.
#include "core/bucketwise.hpp"
#include "core/primitives/centralized.hpp"

namespace trigram {
namespace {

class LocalSgd final : public WeightMethod {
 public:
  explicit LocalSgd(Params& params) : every_(read_every(params, 4)) {}

  Trigram trigram() const override {
    return {Trigram::Synchrony::synchronous, Trigram::Precision::full, Trigram::Centrality::centralized};
  }

  Cost cost(const CostQuery& query) const override {
    if (!communicates(query.step)) return {};
    return sum_over_buckets(query, [&](const Shape& bucket) { return centralized_full_precision_cost(query, bucket); });
  }
  std::vector<std::string> trials() const override { return {"", "every=1", "every=3"}; }

 private:
  bool communicates(std::int64_t step) const override { return (step + 1) % every_ == 0; }
  void exchange(Worker& lane, Bucket& bucket) override { centralized_full_precision(lane, bucket.weights); }

  std::int64_t every_;
};

const Algorithms::Registration registration(
    "local_sgd",
    {"train alone, average weights every few steps",
     "Stich, Local SGD converges fast and communicates little, ICLR 2019, arXiv:1805.09767"},
    [](Params& params) { return std::make_unique<LocalSgd>(params); });

}  // namespace
}  // namespace trigram
