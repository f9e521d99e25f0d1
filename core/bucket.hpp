// The F of Bagua's relaxations: parameters fused into flat buckets, in the order in which backward finishes them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/buffer.hpp"
#include "core/device.hpp"

namespace trigram {

/// One parameter tensor of a workload, as bucketing sees it.
struct Parameter {
  std::string name;
  std::int64_t count = 0;           ///< elements that exist; 0 where a profile only models it
  std::int64_t modelled_count = 0;  ///< elements that cost
  int layer = 0;                    ///< finished by the backward pass of this layer; layers count in forward order
  bool decays = true;               ///< weight decay applies
  DType dtype = DType::f32;
};

/// A run of elements of a bucket that share optimizer constants.
struct ParameterGroup {
  std::int64_t offset = 0;
  std::int64_t count = 0;
  std::int64_t modelled_count = 0;
  bool decays = true;

  /// These elements of a buffer as long as the bucket.
  Buffer of(const Buffer& whole) const { return whole.slice(offset, count, modelled_count); }
};

/// Views of one fused piece of the model: what algorithms communicate and optimizers update.
struct Bucket {
  int index = 0;
  Buffer gradients;
  Buffer weights;
  std::vector<ParameterGroup> groups;
  int first_layer = 0;  ///< complete once the backward pass of this layer has ended
};

/// A parameter's place: its bucket's elements, as views.
struct ParameterView {
  Buffer weights;
  Buffer gradients;
};

/// How parameters are fused.
struct BucketOptions {
  std::int64_t bytes =
      10 * 1024 * 1024;        ///< a bucket is closed once it holds so many modelled bytes; 0: one a parameter
  std::int64_t alignment = 1;  ///< elements to which a bucket's count is padded with zeros
};

/// The plan alone, without memory: which parameters each bucket holds, with offsets. Shared by the trainer, costs and
/// tests.
struct BucketPlan {
  struct Entry {
    int parameter;        ///< index into the workload's list
    std::int64_t offset;  ///< elements from the bucket's begin
  };
  struct Planned {
    std::vector<Entry> entries;
    Shape shape;
    int first_layer = 0;
  };
  std::vector<Planned> buckets;
};

/// Parameters in reverse order, cut into buckets by modelled size; a bucket never mixes types. Padding is modelled too.
BucketPlan plan_buckets(const std::vector<Parameter>& parameters, const BucketOptions& options, bool phantom);

/// The memory behind the buckets of one rank, and views of it by parameter.
class BucketStore {
 public:
  BucketStore(Device& device, const std::vector<Parameter>& parameters, const BucketPlan& plan);
  std::vector<Bucket>& buckets() { return buckets_; }
  /// In the order of the workload's list.
  const std::vector<ParameterView>& parameters() const { return views_; }

 private:
  std::vector<OwnedBuffer> memory_;
  std::vector<Bucket> buckets_;
  std::vector<ParameterView> views_;
};

}  // namespace trigram
