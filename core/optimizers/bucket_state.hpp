// Memory that an optimizer keeps for what it steps.
#pragma once

#include <string>
#include <vector>

#include "core/step/optimizer.hpp"

namespace trigram {

/// A buffer as long as the weights of each bucket, by the bucket's index.
class BucketState {
 public:
  /// Zero-filled.
  void allocate(Worker& worker, std::span<const Bucket> buckets);
  bool empty() const { return buffers_.empty(); }
  /// Throws Error for a bucket that nothing was allocated for.
  Buffer operator[](int bucket) const;
  /// What is of parts is cut where ranks change; else it is each rank's own.
  void list_state(State& state, const std::string& name) const;

 private:
  std::vector<OwnedBuffer> buffers_;
  std::vector<Extent> extents_;
};

/// One more than the largest index of these buckets: the length of what is kept an entry a bucket.
std::size_t entries_for(std::span<const Bucket> buckets);

/// What an optimizer answers that keeps no state of that name.
[[noreturn]] void throw_no_state(const std::string& name);

}  // namespace trigram
