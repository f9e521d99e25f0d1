// 1-bit LAMB: LAMB on averaged gradients until its second moment is worth keeping; from then on only the first moment
// travels, one bit an element, and each layer keeps the step that it had, corrected by how its second moment has moved.
//   steps 1 … T = `warmup`: m ← β₁ m + (1−β₁) g;  v ← β₂ v + (1−β₂) g²;  u = m/(√v + ε) + λ x with g = mean_j g_j
//     of each layer: c = clip(‖x‖/‖u‖), 1 where either is 0;  c̄ ← β₃ c̄ + (1−β₃) c;  x ← x − γ c u
//   then: s m ← C_LP_S(s m_j) with one s a layer, by which momentums of all layers of a bucket are as large at step T;
//     g̃ = (m − β₁ m')/(1−β₁) rebuilds the mean gradient;  ṽ ← β₂ ṽ + (1−β₂) g̃²;  u = m/(√v_T + ε) + λ x
//     r = max (√v_T + ε)/(√ṽ + ε), of u's share ‖m/(√v_T + ε)‖/‖u‖, in [`least_factor`, `most_factor`] and within
//     `factor_step` of the r before;  x ← x − γ c̄ r u
// A layer is a parameter tensor. As in the paper, and in DeepSpeed whose limits these are, no moment is corrected for
// its begin. An element whose v_T is 0, since its gradients were, gets no momentum: a sign has no zero.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/optimizers/bucket_state.hpp"
#include "core/primitives/compressed_momentum.hpp"

namespace trigram {
namespace {

/// One number a layer of a bucket, in each.
struct LayerNumbers {
  OwnedBuffer coefficient, factor, scale;  ///< c̄, r and s
  OwnedBuffer step, length, largest, ones;  ///< of the step under way: c or c̄ r, ‖u‖, the largest (√v_T + ε)/(√ṽ + ε)

  LayerNumbers(Device& device, const Bucket& bucket) {
    const auto layers = static_cast<std::int64_t>(bucket.tensors.size());
    for (OwnedBuffer* numbers : {&coefficient, &factor, &scale, &step, &length, &largest, &ones})
      *numbers = device.allocate({layers, DType::f32, layers, bucket.weights.is_phantom()});
    for (const OwnedBuffer& numbers : {factor, scale, ones}) device.fill(numbers, 1);
  }
};

class OneBitLamb final : public CompressedMomentum {
 public:
  explicit OneBitLamb(Params& params)
      : CompressedMomentum(params),
        beta1_(read(params, "beta1", 0.9, "share of the first moment that is kept")),
        beta2_(read(params, "beta2", 0.999, "share of the second moment that is kept")),
        beta3_(read(params, "beta3", 0.9, "share of the mean coefficient that is kept")),
        epsilon_(read(params, "epsilon", 1e-8, "added to the root of the second moment")),
        weight_decay_(read(params, "weight_decay", 0, "λ, share of the weights in the direction")),
        least_(read(params, "least_coefficient", 0.01, "least c", 1e30)),
        most_(read(params, "most_coefficient", 10, "most c", 1e30)),
        least_factor_(read(params, "least_factor", 0.5, "least r", 1e30)),
        most_factor_(read(params, "most_factor", 4, "most r", 1e30)),
        factor_step_(read(params, "factor_step", 0.1, "share by which r may change in a step")) {}

  std::vector<std::string> trials() const override {
    return {
        "", "warmup=3,exchange=scatter_reduce_ring",
        "warmup=2,codec=minmax_uint8,error_feedback=off,beta1=0.8,beta2=0.99,beta3=0.5,epsilon=1e-6,"
        "weight_decay=0.1,least_coefficient=0.1,most_coefficient=2,least_factor=0.9,most_factor=1.5,factor_step=0.5"};
  }

  void setup(Worker& worker, std::span<Bucket> buckets) override {
    setup_averages(worker, buckets);
    for (BucketState* state : {&first_, &second_, &fresh_, &before_, &ratio_}) state->allocate(worker, buckets);
    for (const Bucket& bucket : buckets) numbers_.emplace_back(worker.device, bucket);
  }

  void update(Worker& worker, Bucket& bucket) override {
    worker.device.fused(Activity::compute, "update", [&] {
      if (!warms_up(worker.step)) return step_frozen(worker, bucket);
      step_warm(worker, bucket);
      if (worker.step + 1 == warmup()) freeze(worker.device, bucket);
    });
  }

  void list_state(State& state) override {
    first_.list_state(state, "first");
    second_.list_state(state, "second");
    fresh_.list_state(state, "fresh");
    for (const LayerNumbers& own : numbers_)
      state.buffer("coefficient", own.coefficient).buffer("factor", own.factor).buffer("scale", own.scale);
    list_averages(state);
  }

 private:
  static float read(Params& params, const char* key, double fallback, const char* meaning, double most = 0.999999) {
    return static_cast<float>(params.get(key, fallback, meaning, {0, most}));
  }

  const LayerNumbers& numbers(const Bucket& bucket) const { return numbers_[static_cast<std::size_t>(bucket.index)]; }

  Buffer accumulate(Worker& lane, Bucket& bucket) override {
    const Buffer m = first_[bucket.index];
    lane.device.fused(Activity::compute, "momentum", [&] {
      lane.device.copy(m, before_[bucket.index]);
      lane.device.axpby(1 - beta1_, bucket.gradients, beta1_, m);
      for_layers(bucket, numbers(bucket).scale,
                 [&](const Tensor& layer, Buffer scale) { lane.device.multiply(scale, layer.of(m)); });
    });
    return m;
  }

  void step_warm(Worker& worker, const Bucket& bucket) const {
    Device& device = worker.device;
    const LayerNumbers& own = numbers(bucket);
    const Buffer m = first_[bucket.index], v = second_[bucket.index], u = bucket.gradients;
    device.apply("lamb_moments", {beta1_, beta2_}, {bucket.gradients, m, v});
    device.apply("lamb_direction", {epsilon_}, {m, v, u});
    add_penalty(device, bucket, u);
    take_norms(device, bucket, bucket.weights, own.step);
    take_norms(device, bucket, u, own.length);
    device.apply("lamb_coefficient", {least_, most_}, {own.length, own.step});
    device.axpby(1 - beta3_, own.step, beta3_, own.coefficient);
    step(worker, bucket, u);
  }

  /// ṽ goes on from v, and every layer gets the scale by which its momentum is as large as all are on average.
  void freeze(Device& device, const Bucket& bucket) const {
    const LayerNumbers& own = numbers(bucket);
    device.copy(second_[bucket.index], fresh_[bucket.index]);
    take_norms(device, bucket, first_[bucket.index], own.length);
    for_layers(bucket, own.length, [&](const Tensor& layer, Buffer norm) {
      device.scale(norm, 1 / std::sqrt(static_cast<float>(std::max<std::int64_t>(layer.count, 1))));
    });
    const Buffer mean = own.largest.view().slice(0, 1);
    device.dot(own.length, own.ones, mean);
    device.scale(mean, 1 / static_cast<float>(bucket.tensors.size()));
    device.copy(own.ones, own.scale);
    device.multiply(mean, own.scale);
    device.apply("lamb_coefficient", {0, std::numeric_limits<float>::infinity()}, {own.length, own.scale});
  }

  void step_frozen(Worker& worker, const Bucket& bucket) const {
    Device& device = worker.device;
    const LayerNumbers& own = numbers(bucket);
    const Buffer m = first_[bucket.index], v = second_[bucket.index], u = bucket.gradients;
    const Buffer fresh = fresh_[bucket.index], ratio = ratio_[bucket.index];
    for_layers(bucket, own.scale, [&](const Tensor& layer, Buffer scale) {
      device.apply("lamb_unscaled", {}, {scale, layer.of(v), layer.of(m)});
    });
    device.apply("lamb_rebuilt", {beta1_, beta2_}, {m, before_[bucket.index], fresh});
    device.apply("lamb_ratio", {epsilon_}, {v, fresh, ratio});
    device.apply("lamb_direction", {epsilon_}, {m, v, u});
    const Buffer share = own.step;  // of m in u
    take_norms(device, bucket, u, share);
    add_penalty(device, bucket, u);
    take_norms(device, bucket, u, own.length);
    device.apply("lamb_coefficient", {0, 1}, {own.length, share});
    for_layers(bucket, own.largest,
               [&](const Tensor& layer, Buffer largest) { take_largest(device, layer.of(ratio), largest); });
    device.apply("lamb_factor", {least_factor_, most_factor_, factor_step_}, {own.largest, share, own.factor});
    device.copy(own.coefficient, own.step);
    device.multiply(own.factor, own.step);
    step(worker, bucket, u);
  }

  void add_penalty(Device& device, const Bucket& bucket, Buffer u) const {
    if (weight_decay_ == 0) return;
    for (const ParameterGroup& group : bucket.groups) {
      if (group.decays) device.axpby(weight_decay_, group.of(bucket.weights), 1, group.of(u));
    }
  }

  /// x ← x − γ c u, by the c of each layer.
  void step(Worker& worker, const Bucket& bucket, Buffer u) const {
    const Buffer lengths = numbers(bucket).step;
    worker.device.scale(lengths, -static_cast<float>(worker.learning_rate));
    for_layers(bucket, lengths, [&](const Tensor& layer, Buffer length) {
      worker.device.add_scaled(length, layer.of(u), layer.of(bucket.weights));
    });
  }

  /// Calls body(layer, its number) for all layers of a bucket.
  template <class Body>
  static void for_layers(const Bucket& bucket, const Buffer& numbers, const Body& body) {
    for (std::size_t layer = 0; layer < bucket.tensors.size(); ++layer)
      body(bucket.tensors[layer], numbers.slice(static_cast<std::int64_t>(layer), 1));
  }
  static void take_norms(Device& device, const Bucket& bucket, Buffer of, Buffer norms) {
    for_layers(bucket, norms, [&](const Tensor& layer, Buffer norm) { device.dot(layer.of(of), layer.of(of), norm); });
    device.root(norms);
  }
  /// The largest of x, whose halves are folded over each other; in one pass, where a device costs time.
  static void take_largest(Device& device, Buffer x, Buffer largest) {
    device.charge({static_cast<double>(x.modelled_count()), 4 * static_cast<double>(x.modelled_count())});
    const Device::Uncharged one_pass(device);
    if (x.count() == 0) return device.fill(largest, 1);
    for (std::int64_t left = x.count(); left > 1; left -= left / 2) {
      const std::int64_t half = left / 2;
      device.reduce(ReduceOp::max, x.slice(left - half, half, half), x.slice(0, half, half));
    }
    device.copy(x.slice(0, 1, 1), largest);
  }

  float beta1_, beta2_, beta3_, epsilon_, weight_decay_;
  float least_, most_, least_factor_, most_factor_, factor_step_;
  BucketState first_, second_, fresh_;  ///< m, v and ṽ
  BucketState before_, ratio_;          ///< of the step under way: m', and (√v_T + ε)/(√ṽ + ε)
  std::vector<LayerNumbers> numbers_;
};

const Algorithms::Registration registration(
    "one_bit_lamb",
    {"LAMB that averages its first moment in one bit after a warm-up",
     "Li et al., 1-bit LAMB: communication efficient large-scale large-batch training, HiPC 2022, arXiv:2104.06069",
     "LAMB's very large batches on slow networks: a thirty-second of the bytes after a warm-up.",
     "Small batches, for which one_bit_adam's plain steps do."},
    [](Params& params) { return std::make_unique<OneBitLamb>(params); });

}  // namespace
}  // namespace trigram
