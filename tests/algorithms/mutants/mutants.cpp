// Algorithms that are wrong in one thing each, which the conformance suite must find.
#include "core/primitives/background.hpp"
#include "core/primitives/centralized.hpp"
#include "core/primitives/decentralized.hpp"
#include "core/step/bucketwise.hpp"
#include "tests/algorithms/mutants/averages.hpp"

namespace trigram {
namespace {

bool is_last(const Worker& worker) { return worker.rank() + 1 == worker.world_size() && worker.world_size() > 1; }

class DoesNothing final : public Algorithm {
 public:
  Trigram trigram() const override { return averages; }
  Cost cost(const CostQuery&) const override { return {}; }
};

class ForgetsARank : public GradientMethod {
 public:
  Trigram trigram() const override { return averages; }
  Cost cost(const CostQuery& query) const override { return cost_of_mean(query); }

 private:
  void exchange(Worker& lane, Bucket& bucket) override {
    if (is_last(lane)) lane.device.fill(bucket.gradients, 0);
    centralized_full_precision(lane, bucket.gradients);
  }
};

/// The same where nothing is promised of the mean.
class CompressesARankAway final : public ForgetsARank {
 public:
  Trigram trigram() const override {
    return {Trigram::Synchrony::synchronous, Trigram::Precision::low, Trigram::Centrality::centralized};
  }
};

class LeavesARankBehind final : public WeightMethod {
 public:
  Trigram trigram() const override { return averages; }
  Cost cost(const CostQuery& query) const override { return cost_of_mean(query); }

 private:
  bool communicates(std::int64_t) const override { return true; }
  void exchange(Worker& lane, Bucket& bucket) override {
    const OwnedBuffer own = lane.device.allocate(bucket.weights.shape());
    lane.device.copy(bucket.weights, own);
    centralized_full_precision(lane, bucket.weights);
    if (is_last(lane)) lane.device.copy(own, bucket.weights);
  }
};

class IsRightAtItsDefaults final : public WeightMethod {
 public:
  explicit IsRightAtItsDefaults(Params& params) : every_(read_every(params, 1)) {}
  Trigram trigram() const override { return averages; }
  Cost cost(const CostQuery& query) const override { return communicates(query.step) ? cost_of_mean(query) : Cost{}; }
  std::vector<std::string> trials() const override { return {"", "every=2"}; }

 private:
  bool communicates(std::int64_t step) const override { return (step + 1) % every_ == 0; }
  void exchange(Worker& lane, Bucket& bucket) override {
    if (every_ > 1 && is_last(lane)) lane.device.fill(bucket.weights, 0);
    centralized_full_precision(lane, bucket.weights);
  }
  std::int64_t every_;
};

class MiscountsByOneByte final : public GradientMethod {
 public:
  Trigram trigram() const override { return averages; }
  Cost cost(const CostQuery& query) const override { return cost_of_mean(query) + Cost{0, 1}; }

 private:
  void exchange(Worker& lane, Bucket& bucket) override { centralized_full_precision(lane, bucket.gradients); }
};

class IsWrongWithLeaders final : public GradientMethod {
 public:
  Trigram trigram() const override { return averages; }
  Cost cost(const CostQuery& query) const override { return cost_of_mean(query); }

 private:
  void exchange(Worker& lane, Bucket& bucket) override {
    if (lane.relaxation.hierarchy == Hierarchy::leader && lane.node.rank() > 0) lane.device.fill(bucket.gradients, 0);
    centralized_full_precision(lane, bucket.gradients);
  }
};

/// Sends what it should and keeps most of its own.
class MixesTooLittle final : public WeightMethod {
 public:
  Trigram trigram() const override {
    return {Trigram::Synchrony::synchronous, Trigram::Precision::full, Trigram::Centrality::decentralized};
  }
  Invariants invariants(const CostQuery& query) const override {
    Invariants held = Algorithm::invariants(query);
    held.contraction = contraction_of(*ring(vertices(query)));
    return held;
  }
  Cost cost(const CostQuery& query) const override {
    return sum_over_buckets(query, [&](const Shape& bucket) {
      return decentralized_full_precision_cost(query, *ring(vertices(query)), 0, bucket);
    });
  }

 private:
  static std::unique_ptr<Topology> ring(const Vertices& all) { return make_topology("ring", all); }
  bool communicates(std::int64_t) const override { return true; }
  void exchange(Worker& lane, Bucket& bucket) override {
    const OwnedBuffer own = lane.device.allocate(bucket.weights.shape());
    lane.device.copy(bucket.weights, own);
    decentralized_full_precision(lane, *ring(vertices(lane)), 0, bucket.weights);
    lane.device.axpby(0.9F, own, 0.1F, bucket.weights);
  }
};

/// Adds to its gradients what it must not, where buckets run one after the other; and nobody tries its parameter.
class DependsOnOverlap final : public GradientMethod {
 public:
  explicit DependsOnOverlap(Params& params)
      : bias_(static_cast<float>(params.get("bias", 0.5, "what is added without overlap"))) {}
  Trigram trigram() const override { return averages; }
  Cost cost(const CostQuery& query) const override { return cost_of_mean(query); }

 private:
  void exchange(Worker& lane, Bucket& bucket) override {
    centralized_full_precision(lane, bucket.gradients);
    if (!lane.relaxation.overlap) lane.device.scale(bucket.gradients, 1 + bias_);
  }
  float bias_;
};

/// Applies the mean gradient of the step before, which it keeps and names nowhere.
class ForgetsAtACheckpoint final : public GradientMethod {
 public:
  Trigram trigram() const override { return averages; }
  Invariants invariants(const CostQuery&) const override {
    return {.replicas = Invariants::Replicas::equal_after_exchanges};
  }
  Cost cost(const CostQuery& query) const override { return cost_of_mean(query); }
  void setup(Worker& worker, std::span<Bucket> buckets) override {
    for (const Bucket& bucket : buckets) before_.push_back(worker.device.allocate(bucket.gradients.shape()));
  }

 private:
  void exchange(Worker& lane, Bucket& bucket) override {
    if (lane.world_size() == 1) return;
    const Buffer before = before_[static_cast<std::size_t>(bucket.index)];
    const OwnedBuffer now = lane.device.allocate(bucket.gradients.shape());
    lane.device.copy(bucket.gradients, now);
    lane.device.copy(before, bucket.gradients);
    lane.device.copy(now, before);
    centralized_full_precision(lane, bucket.gradients);
  }
  std::vector<OwnedBuffer> before_;
};

/// Leaves an averaging in the background, which no checkpoint holds; the next one would make up for it.
class SavesWhileItAverages final : public Algorithm {
 public:
  Trigram trigram() const override {
    return {Trigram::Synchrony::asynchronous, Trigram::Precision::full, Trigram::Centrality::centralized};
  }
  Invariants invariants(const CostQuery&) const override { return {}; }
  Cost cost(const CostQuery& query) const override { return background_average_cost(query); }
  void setup(Worker& worker, std::span<Bucket> buckets) override { average_.setup(worker, buckets); }
  void after_step(Worker& worker) override {
    finish(worker);
    if (worker.step % 5 == 4) average_.start(worker, false);
  }
  void finish(Worker& worker) override {
    if (average_.running()) average_.merge(worker);
  }

 private:
  BackgroundAverage average_;
};

template <class Mutant>
std::unique_ptr<Algorithm> make(Params& params) {
  if constexpr (std::is_constructible_v<Mutant, Params&>) {
    return std::make_unique<Mutant>(params);
  } else {
    return std::make_unique<Mutant>();
  }
}

const Algorithms::Registration registrations[] = {
    {"mutant/does_nothing", {"never communicates"}, make<DoesNothing>},
    {"mutant/forgets_a_rank", {"takes the last rank's gradient as zero"}, make<ForgetsARank>},
    {"mutant/compresses_a_rank_away", {"the same in low precision"}, make<CompressesARankAway>},
    {"mutant/leaves_a_rank_behind", {"averages weights, but for the last rank"}, make<LeavesARankBehind>},
    {"mutant/is_right_at_its_defaults", {"forgets the last rank unless every=1"}, make<IsRightAtItsDefaults>},
    {"mutant/miscounts_by_one_byte", {"declares a byte too many"}, make<MiscountsByOneByte>},
    {"mutant/is_wrong_with_leaders", {"forgets all ranks but leaders"}, make<IsWrongWithLeaders>},
    {"mutant/mixes_too_little", {"keeps nine tenths of its own weights"}, make<MixesTooLittle>},
    {"mutant/depends_on_overlap", {"is another method without overlap"}, make<DependsOnOverlap>},
    {"mutant/forgets_at_a_checkpoint", {"keeps gradients that it does not list"}, make<ForgetsAtACheckpoint>},
    {"mutant/saves_while_it_averages", {"ends nothing at a checkpoint"}, make<SavesWhileItAverages>},
};

}  // namespace
}  // namespace trigram
