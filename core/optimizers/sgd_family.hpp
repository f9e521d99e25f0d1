// SGD with momentum in its usual forms, over flat buckets; the products differ in defaults only.
#pragma once

#include <vector>

#include "core/optimizers/bucket_state.hpp"

namespace trigram {

/// Constants in SgdConstants; velocity is allocated only where momentum is used.
class SgdFamily final : public Optimizer {
 public:
  /// Reads momentum, dampening (unless Nesterov) and weight_decay with these defaults. Throws UsageError when out of
  /// range.
  SgdFamily(Params& params, double momentum, bool nesterov);

  void setup(Worker& worker, std::span<const Bucket> buckets) override;
  void update(Worker& worker, const Bucket& bucket, double learning_rate) override;
  std::vector<std::string> state_names() const override;
  Buffer state(const std::string& name, int bucket) const override;
  void list_state(State& state) override;

 private:
  SgdConstants constants_;
  BucketState velocity_;
  std::vector<char> started_;  ///< not bits, which lanes could not write at the same time
};

}  // namespace trigram
