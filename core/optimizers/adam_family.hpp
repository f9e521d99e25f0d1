// Adam and AdamW over flat buckets; the products differ in how weights decay.
#pragma once

#include <vector>

#include "core/optimizer.hpp"

namespace trigram {

/// Constants in AdamConstants; two moments a bucket.
class AdamFamily final : public Optimizer {
 public:
  /// Reads beta1, beta2, epsilon and weight_decay (with this default). Throws UsageError when out of range.
  AdamFamily(Params& params, double weight_decay, bool decoupled);

  void setup(Worker& worker, std::span<Bucket> buckets) override;
  void update(Worker& worker, Bucket& bucket) override;

 private:
  AdamConstants constants_;
  std::vector<OwnedBuffer> first_;
  std::vector<OwnedBuffer> second_;
  std::vector<std::int64_t> steps_;
};

}  // namespace trigram
