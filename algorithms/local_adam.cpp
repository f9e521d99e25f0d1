// Local Adam: every rank steps by an Adam of its own; every `every` steps weights are averaged, and both moments with
// them, without which few proofs hold and ranks would go on by other preconditioners.
//   rounds 6(n−1)/every, bytes 6 S (n−1)/(n every) per rank and step with the ring; a third with moments=off.
#include "core/primitives/centralized.hpp"
#include "core/step/bucketwise.hpp"
#include "core/step/optimizer.hpp"

namespace trigram {
namespace {

class LocalAdam final : public WeightMethod {
 public:
  explicit LocalAdam(Params& params)
      : every_(read_every(params, 4)),
        moments_(params.get("moments", true, "average both moments too")),
        adam_(Optimizers::make("adam:" + constants(params))) {}

  Trigram trigram() const override {
    return {Trigram::Synchrony::synchronous, Trigram::Precision::full, Trigram::Centrality::centralized};
  }
  bool uses_optimizer() const override { return false; }
  bool reads_gradients() const override { return true; }
  std::vector<std::string> trials() const override {
    return {"", "every=3,moments=off,beta1=0.8,beta2=0.99,epsilon=1e-6"};
  }
  Cost cost(const CostQuery& query) const override {
    if (!communicates(query.step)) return {};
    return sum_over_buckets(query, [&](const Shape& bucket) {
      const Cost one = centralized_full_precision_cost(query, bucket);
      return moments_ ? one + one + one : one;
    });
  }

  void setup(Worker& worker, std::span<Bucket> buckets) override { adam_->setup(worker, buckets); }
  void update(Worker& worker, Bucket& bucket) override { adam_->update(worker, bucket, worker.learning_rate); }
  void list_state(State& state) override { state.of("adam", *adam_); }

 private:
  static std::string constants(Params& params) {
    const double beta1 = params.get("beta1", 0.9, "share of the first moment that is kept");
    const double beta2 = params.get("beta2", 0.999, "share of the second moment that is kept");
    const double epsilon = params.get("epsilon", 1e-8, "added to the root of the second moment");
    return "beta1=" + number_text(beta1) + ",beta2=" + number_text(beta2) + ",epsilon=" + number_text(epsilon);
  }

  bool communicates(std::int64_t step) const override { return (step + 1) % every_ == 0; }
  void exchange(Worker& lane, Bucket& bucket) override {
    centralized_full_precision(lane, bucket.weights);
    if (!moments_) return;
    for (const std::string& moment : adam_->state_names())
      centralized_full_precision(lane, adam_->state(moment, bucket.index));
  }

  std::int64_t every_;
  bool moments_;
  std::unique_ptr<Optimizer> adam_;
};

const Algorithms::Registration registration(
    "local_adam",
    {"step by an Adam of one's own, average weights and moments every few steps",
     "Cheng & Glasgow, Convergence of distributed adaptive optimization with local updates, ICLR 2025, "
     "arXiv:2409.13155",
     "Adam with rare exchanges, as for transformers on slow networks.",
     "Every few steps on a fast network: moments make three times the bytes of local_sgd."},
    [](Params& params) { return std::make_unique<LocalAdam>(params); });

}  // namespace
}  // namespace trigram
