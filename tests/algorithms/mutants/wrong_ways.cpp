// Algorithms that take the mean of weights another way than gradients do, or begin apart; nothing that they declare of
// the mean's error or of replicas tells.
#include "core/primitives/centralized.hpp"
#include "core/step/bucketwise.hpp"
#include "tests/algorithms/mutants/averages.hpp"
#include "tests/algorithms/mutants/feeds_errors_back.hpp"
#include "tests/algorithms/signs.hpp"

namespace trigram {
namespace {

/// Averages, and promises equal replicas alone.
template <class Method>
class Averages : public Method {
 public:
  Trigram trigram() const override { return averages; }
  Invariants invariants(const CostQuery&) const override {
    return {.replicas = Invariants::Replicas::equal_after_exchanges};
  }
  Cost cost(const CostQuery& query) const override { return cost_of_mean(query); }
};

/// DiLoCo with plain SGD outside, whose difference has its sign turned.
class StepsBackFromWhatItLearned final : public Averages<WeightMethod> {
 public:
  Cost cost(const CostQuery& query) const override { return communicates(query.step) ? cost_of_mean(query) : Cost{}; }
  void setup(Worker& worker, std::span<Bucket> buckets) override {
    for (const Bucket& bucket : buckets)
      worker.device.copy(bucket.weights, begin_.emplace_back(worker.device.allocate(bucket.weights.shape())));
  }
  void list_state(State& state) override { state.buffers("begin", begin_); }

 private:
  bool communicates(std::int64_t step) const override { return step % 2 == 1; }
  void exchange(Worker& lane, Bucket& bucket) override {
    const Buffer begin = begin_[static_cast<std::size_t>(bucket.index)];
    centralized_full_precision(lane, bucket.weights);
    lane.device.axpby(-0.5F, bucket.weights, 1.5F, begin);
    lane.device.copy(begin, bucket.weights);
  }
  std::vector<OwnedBuffer> begin_;
};

class PushesMomentumUp final : public Averages<GradientMethod> {
 public:
  void setup(Worker& worker, std::span<Bucket> buckets) override {
    for (const Bucket& bucket : buckets) momentum_.push_back(worker.device.allocate(bucket.gradients.shape()));
  }
  void list_state(State& state) override { state.buffers("momentum", momentum_); }

 private:
  void exchange(Worker& lane, Bucket& bucket) override {
    const Buffer momentum = momentum_[static_cast<std::size_t>(bucket.index)];
    centralized_full_precision(lane, bucket.gradients);
    lane.device.axpby(-1.0F, bucket.gradients, 0.5F, momentum);
    lane.device.copy(momentum, bucket.gradients);
  }
  std::vector<OwnedBuffer> momentum_;
};

class FollowsSignsUp final : public Averages<GradientMethod> {
 private:
  void exchange(Worker& lane, Bucket& bucket) override {
    average_signs(lane, bucket);
    lane.device.scale(bucket.gradients, -1.0F);
  }
};

/// What codecs leave out is left out twice.
using FeedsErrorsBackNegated = FeedsErrorsBack<Fate::alike, -1>;

/// Hides gradients behind noise that all ranks must have the same, and draws it by the rank.
class BeginsWithNoiseOfItsOwn final : public Averages<GradientMethod> {
 public:
  Invariants invariants(const CostQuery&) const override { return {.mean_error = 0}; }
  void setup(Worker& worker, std::span<Bucket> buckets) override {
    for (const Bucket& bucket : buckets) {
      noise_.push_back(worker.device.allocate(bucket.gradients.shape()));
      worker.device.fill_normal(noise_.back(), worker.key(bucket.index, Phase::algorithm));
    }
  }
  void list_state(State& state) override { state.buffers("noise", noise_); }

 private:
  void exchange(Worker& lane, Bucket& bucket) override {
    const Buffer noise = noise_[static_cast<std::size_t>(bucket.index)];
    lane.device.axpby(1.0F, noise, 1.0F, bucket.gradients);
    centralized_full_precision(lane, bucket.gradients);
    lane.device.axpby(-1.0F, noise, 1.0F, bucket.gradients);
  }
  std::vector<OwnedBuffer> noise_;
};

template <class Mutant>
std::unique_ptr<Algorithm> make(Params&) {
  return std::make_unique<Mutant>();
}

const Algorithms::Registration registrations[] = {
    {"mutant/steps_back_from_what_it_learned",
     {"an outer step whose difference has its sign turned"},
     make<StepsBackFromWhatItLearned>},
    {"mutant/pushes_momentum_up", {"momentum whose gradients have their sign turned"}, make<PushesMomentumUp>},
    {"mutant/follows_signs_up", {"a mean of signs that is added to weights"}, make<FollowsSignsUp>},
    {"mutant/feeds_errors_back_negated", {"error feedback with its sign turned"}, make<FeedsErrorsBackNegated>},
    {"mutant/begins_with_noise_of_its_own", {"noise that differs from rank to rank"}, make<BeginsWithNoiseOfItsOwn>},
};

}  // namespace
}  // namespace trigram
