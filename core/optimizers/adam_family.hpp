// Adam and AdamW over flat buckets; the products differ in how weights decay.
#pragma once

#include <vector>

#include "core/optimizers/bucket_state.hpp"

namespace trigram {

/// Constants in AdamConstants; two moments a bucket.
class AdamFamily final : public Optimizer {
 public:
  /// Reads beta1, beta2, epsilon and weight_decay (with this default). Throws UsageError when out of range.
  AdamFamily(Params& params, double weight_decay, bool decoupled);

  void setup(Worker& worker, std::span<const Bucket> buckets) override;
  void update(Worker& worker, const Bucket& bucket, double learning_rate) override;
  std::vector<std::string> state_names() const override;
  Buffer state(const std::string& name, int bucket) const override;
  void list_state(State& state) override;

 private:
  AdamConstants constants_;
  BucketState first_;
  BucketState second_;
  std::vector<std::int64_t> steps_;
};

}  // namespace trigram
