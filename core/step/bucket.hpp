// Tensor fusion (Bagua's F): parameters in flat buckets, in the order in which backward finishes them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/device/device.hpp"
#include "core/values/buffer.hpp"

namespace trigram {

/// Lengths along a tensor's dimensions, outermost first, as {64, 3, 7, 7} of a convolution; empty if unknown.
using Dimensions = std::vector<std::int64_t>;

/// One parameter tensor of a workload, as bucketing sees it.
struct Parameter {
  std::string name;
  std::int64_t count = 0;           ///< elements in memory; 0 where a profile (measured layer times) only models it
  std::int64_t modelled_count = 0;  ///< elements that are counted in costs
  int layer = 0;                    ///< finished by the backward pass of this layer; layers count in forward order
  bool decays = true;               ///< weight decay applies
  DType dtype = DType::f32;
  Dimensions dimensions = {};           ///< their product is count
  Dimensions modelled_dimensions = {};  ///< their product is modelled_count
};

/// A parameter tensor's place in its bucket.
struct Tensor {
  int parameter = 0;  ///< index into the workload's list
  std::string name;
  std::int64_t offset = 0;  ///< elements from the bucket's begin
  std::int64_t count = 0;
  std::int64_t modelled_count = 0;
  Dimensions dimensions = {};
  Dimensions modelled_dimensions = {};

  /// Its elements of a buffer as long as the bucket.
  Buffer of(const Buffer& whole) const { return whole.slice(offset, count, modelled_count); }
};

/// A bucket without memory: what costs are asked for.
struct BucketLayout {
  Shape shape;
  std::vector<Tensor> tensors;  ///< in the order of their offsets; what follows the last one is padding
  int first_layer = 0;          ///< complete once the backward pass of this layer has ended
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
  std::span<const Tensor> tensors;  ///< of the whole bucket, also in a part of it
  int first_layer = 0;              ///< complete once the backward pass of this layer has ended
  Extent extent = {};               ///< of a part, where it lies in the whole bucket

  /// Chunk `which` of `parts` (as Buffer::chunk, the piece of reduce_scatter and all_gather), for an optimizer that
  /// steps this alone.
  Bucket part(int which, int parts) const;
  /// The same weights with another direction in place of the gradients, for a step along it.
  Bucket along(const Buffer& direction) const;
};

/// A parameter's place: its bucket's elements, as views.
struct ParameterView {
  Buffer weights;
  Buffer gradients;
};

/// How parameters are fused.
struct BucketOptions {
  std::int64_t bytes =
      10 * 1024 * 1024;        ///< a bucket is closed once it holds so many modelled bytes; 0: one bucket per parameter
  std::int64_t alignment = 1;  ///< elements to which a bucket's count is padded with zeros
  double cycle = 0;  ///< seconds: a bucket is closed at each multiple of it in backward too, where layers have times
};

/// In which cycle of so many seconds the backward pass of each layer ends, by layer: layers end one after the other,
/// the last one first, and one that ends with a cycle is in it. Tensors of one cycle are ready together, as those that
/// Horovod fuses. All in one where `cycle` is 0.
std::vector<std::int64_t> cycles_of_layers(std::span<const double> backward_seconds, double cycle);

/// The plan alone, without memory: which parameters each bucket holds, with offsets. Shared by the trainer, costs and
/// tests.
struct BucketPlan {
  std::vector<BucketLayout> buckets;
};

/// Parameters in reverse order, cut into buckets by modelled size, and by the cycles of `backward_seconds` of each
/// layer where it is not empty; a bucket never mixes types. Padding is modelled too.
BucketPlan plan_buckets(const std::vector<Parameter>& parameters, const BucketOptions& options, bool phantom,
                        std::span<const double> backward_seconds = {});

/// The memory of one rank's buckets, owned or provided by the caller, and views of it by parameter.
class BucketStore {
 public:
  BucketStore(Device& device, const std::vector<Parameter>& parameters, BucketPlan plan);
  /// The same, of a plan that ranks share.
  BucketStore(Device& device, const std::vector<Parameter>& parameters, std::shared_ptr<const BucketPlan> plan);
  /// On memory that the caller owns and keeps for longer than this object: `memory` is where each parameter's weights
  /// and gradients are, and stay. The tensors of a bucket must be contiguous there, in the order of the plan, and have
  /// no padding. Throws UsageError, which names the tensor, where type, size or place do not fit.
  BucketStore(const std::vector<Parameter>& parameters, BucketPlan plan, std::vector<ParameterView> memory);
  BucketStore(const BucketStore&) = delete;
  BucketStore& operator=(const BucketStore&) = delete;
  std::vector<Bucket>& buckets() { return buckets_; }
  /// In the order of the workload's list.
  const std::vector<ParameterView>& parameters() const { return views_; }

 private:
  void add(const BucketLayout& planned, const std::vector<Parameter>& parameters, const Buffer& gradients,
           const Buffer& weights);

  std::shared_ptr<const BucketPlan> plan_;  ///< buckets look at its tensors
  std::vector<OwnedBuffer> memory_;
  std::vector<Bucket> buckets_;
  std::vector<ParameterView> views_;
};

}  // namespace trigram
