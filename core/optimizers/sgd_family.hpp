// SGD with momentum in its usual forms, over flat buckets; the products differ in defaults only.
#pragma once

#include <vector>

#include "core/optimizer.hpp"

namespace trigram {

/// Constants in SgdConstants; velocity is allocated only where momentum is used.
class SgdFamily final : public Optimizer {
 public:
  /// Reads momentum, dampening (unless Nesterov) and weight_decay with these defaults. Throws UsageError when out of
  /// range.
  SgdFamily(Params& params, double momentum, bool nesterov);

  void setup(Worker& worker, std::span<Bucket> buckets) override;
  void update(Worker& worker, Bucket& bucket) override;

 private:
  SgdConstants constants_;
  std::vector<OwnedBuffer> velocity_;
  std::vector<bool> started_;
};

}  // namespace trigram
