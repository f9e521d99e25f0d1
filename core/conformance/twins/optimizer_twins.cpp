// Compares an optimizer on two devices.
#include <cmath>
#include <span>

#include "core/conformance/device_check.hpp"
#include "core/conformance/lone_rank.hpp"
#include "core/conformance/twins/twins.hpp"
#include "core/step/optimizer.hpp"
#include "core/values/random.hpp"

namespace trigram {
namespace {

constexpr int steps_tried = 4;
constexpr std::int64_t bucket_sizes[] = {1, 33, 1003};

/// Of sizes from tiny to large, some of them 0.
std::vector<float> gradient_of(std::int64_t count, std::uint64_t seed) {
  const Philox philox(Key{.seed = seed});
  std::vector<float> values;
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(count); ++i) {
    const float value = 2 * philox.uniform(i) - 1;
    values.push_back(i % 11 == 5 ? 0.0F : std::ldexp(value, static_cast<int>(i % 5) * 10 - 30));
  }
  return values;
}

/// A lone rank whose buckets an optimizer steps.
class Stepper {
 public:
  Stepper(TriedDevice& on, const std::string& spec)
      : runtime_(0, 1, [&](Timeline& timeline) { return on.make(timeline); }),
        worker_(runtime_, 0, {}),
        optimizer_(Optimizers::make(spec)) {
    for (const std::int64_t count : bucket_sizes) add(count);
    optimizer_->setup(worker_, buckets_);
  }

  /// Weights after each step, then all states.
  Results run() {
    Results results;
    for (int step = 0; step < steps_tried; ++step) {
      worker_.step = step;
      for (Bucket& bucket : buckets_) {
        put(bucket.gradients, gradient_of(bucket.gradients.count(), 61 + static_cast<std::uint64_t>(step)));
        optimizer_->update(worker_, bucket, 0.1 / (1 + step));
        results.push_back(
            result_of(worker_.device,
                      "weights of bucket " + std::to_string(bucket.index) + " after step " + std::to_string(step + 1),
                      bucket.weights));
      }
    }
    for (const std::string& name : optimizer_->state_names()) {
      for (const Bucket& bucket : buckets_)
        results.push_back(result_of(worker_.device, "state " + name + " of bucket " + std::to_string(bucket.index),
                                    optimizer_->state(name, bucket.index)));
    }
    return results;
  }

 private:
  void put(Buffer to, const std::vector<float>& values) { worker_.device.upload(std::as_bytes(std::span(values)), to); }

  /// Weight decay applies to the first third.
  void add(std::int64_t count) {
    const auto memory = [&] { return memory_.emplace_back(worker_.device.allocate(Shape::of(count, DType::f32))); };
    Bucket bucket;
    bucket.index = static_cast<int>(buckets_.size());
    bucket.weights = memory();
    bucket.gradients = memory();
    const std::int64_t decayed = (count + 2) / 3;
    bucket.groups = {{0, decayed, decayed, true}};
    if (count > decayed) bucket.groups.push_back({decayed, count - decayed, count - decayed, false});
    put(bucket.weights, gradient_of(count, 59));
    buckets_.push_back(bucket);
  }

  LoneRank runtime_;
  Worker worker_;
  std::unique_ptr<Optimizer> optimizer_;
  std::vector<OwnedBuffer> memory_;
  std::vector<Bucket> buckets_;
};

}  // namespace

std::vector<ComparedTrial> compare_optimizer(const std::string& spec, TriedDevice& tested, TriedDevice& reference) {
  Twins twins(Spec::parse(spec).name, tested, reference);
  const std::string where =
      std::to_string(steps_tried) + " steps of " + std::to_string(std::size(bucket_sizes)) + " buckets";
  const std::vector<Violation> found = twins.compare(
      where, [&](TriedDevice& on) { return Stepper(on, spec).run(); }, Alike::bits);
  return {{where, twins.difference(), found}};
}

}  // namespace trigram
