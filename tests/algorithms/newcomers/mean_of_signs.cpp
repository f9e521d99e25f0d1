// The mean of what ranks' gradients have as signs, without error feedback (signSGD: Bernstein et al., ICML 2018): each
// weight moves by no more than the learning rate, so that nothing is promised of the mean gradient.
#include "core/primitives/centralized.hpp"
#include "core/step/bucketwise.hpp"
#include "tests/algorithms/signs.hpp"

namespace trigram {
namespace {

class MeanOfSigns final : public GradientMethod {
 public:
  Trigram trigram() const override {
    return {Trigram::Synchrony::synchronous, Trigram::Precision::low, Trigram::Centrality::centralized};
  }
  Cost cost(const CostQuery& query) const override {
    return sum_over_buckets(query, [&](const Shape& bucket) { return centralized_full_precision_cost(query, bucket); });
  }

 private:
  void exchange(Worker& lane, Bucket& bucket) override { average_signs(lane, bucket); }
};

const Algorithms::Registration registration("newcomer/mean_of_signs", {"average signs"},
                                            [](Params&) { return std::make_unique<MeanOfSigns>(); });

}  // namespace
}  // namespace trigram
