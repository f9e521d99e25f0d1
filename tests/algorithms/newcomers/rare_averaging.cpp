// Local SGD whose period is longer than any short test.
#include "core/primitives/centralized.hpp"
#include "core/step/bucketwise.hpp"

namespace trigram {
namespace {

class RareAveraging final : public WeightMethod {
 public:
  explicit RareAveraging(Params& params) : every_(read_every(params, 50)) {}

  Trigram trigram() const override {
    return {Trigram::Synchrony::synchronous, Trigram::Precision::full, Trigram::Centrality::centralized};
  }
  Cost cost(const CostQuery& query) const override {
    if (!communicates(query.step)) return {};
    return sum_over_buckets(query, [&](const Shape& bucket) { return centralized_full_precision_cost(query, bucket); });
  }
  std::vector<std::string> trials() const override { return {"", "every=2"}; }

 private:
  bool communicates(std::int64_t step) const override { return (step + 1) % every_ == 0; }
  void exchange(Worker& lane, Bucket& bucket) override { centralized_full_precision(lane, bucket.weights); }

  std::int64_t every_;
};

const Algorithms::Registration registration("newcomer/rare_averaging", {"average weights every 50 steps"},
                                            [](Params& params) { return std::make_unique<RareAveraging>(params); });

}  // namespace
}  // namespace trigram
