// Local SGD: every rank trains alone and all weights are averaged every `every` steps, and in the first `warmup` steps
// after each, which is post-local SGD.
//   rounds 2(n−1)/every, bytes 2 S (n−1)/(n every) per rank and step with the ring.
#include "core/primitives/centralized.hpp"
#include "core/step/bucketwise.hpp"

namespace trigram {
namespace {

class LocalSgd final : public WeightMethod {
 public:
  explicit LocalSgd(Params& params)
      : every_(read_every(params, 4)),
        warmup_(params.get("warmup", std::int64_t{0}, "first steps, after each of which weights are averaged",
                           {0, 1'000'000'000})) {}

  Trigram trigram() const override {
    return {Trigram::Synchrony::synchronous, Trigram::Precision::full, Trigram::Centrality::centralized};
  }

  Cost cost(const CostQuery& query) const override {
    if (!communicates(query.step)) return {};
    return sum_over_buckets(query, [&](const Shape& bucket) { return centralized_full_precision_cost(query, bucket); });
  }
  std::vector<std::string> trials() const override { return {"", "every=1", "every=3,warmup=2"}; }

 private:
  bool communicates(std::int64_t step) const override { return step < warmup_ || (step + 1) % every_ == 0; }
  void exchange(Worker& lane, Bucket& bucket) override { centralized_full_precision(lane, bucket.weights); }

  std::int64_t every_, warmup_;
};

const Algorithms::Registration registration(
    "local_sgd",
    {"train alone, average weights every few steps",
     "Stich, Local SGD converges fast and communicates little, ICLR 2019, arXiv:1805.09767",
     "Slow networks, data alike on all ranks: bytes fall by the number of steps between averages.",
     "Data that differ between ranks, which then drift apart: scaffold corrects that."},
    [](Params& params) { return std::make_unique<LocalSgd>(params); });

}  // namespace
}  // namespace trigram
