// Gradients of several micro-batches as those of one step.
#pragma once

#include <span>
#include <vector>

#include "core/step/bucket.hpp"

namespace trigram {

/// Adds up what backward leaves in the buckets, micro-batch by micro-batch. On a simulated clock it takes no time,
/// since backward adds where it would write: compute takes what the passes take.
class Accumulation {
 public:
  /// The buckets outlive it. With one micro-batch it holds nothing and changes nothing.
  Accumulation(Device& device, std::span<const Bucket> buckets, int micro_batches);

  /// Micro-batch `index`, not the last, has left its gradients and its loss, which may be empty.
  void keep(int index, Buffer loss);
  /// The last micro-batch's gradients of this bucket are there: they become the mean over all.
  void mean(const Bucket& bucket);
  /// The mean of the losses, given the last micro-batch's.
  Buffer mean_loss(Buffer last);

 private:
  void add(int index, Buffer x, OwnedBuffer& sum);

  Device& device_;
  std::span<const Bucket> buckets_;
  int micro_batches_;
  std::vector<OwnedBuffer> sums_;  ///< by bucket
  OwnedBuffer loss_;
};

}  // namespace trigram
