#include "core/step/accumulation.hpp"

namespace trigram {
namespace {

bool has_data(Buffer x) { return !x.is_phantom() && x.count() > 0; }

/// Without the padding, which backward leaves as it finds it.
Buffer gradients_of(const Bucket& bucket) {
  if (bucket.tensors.empty()) return {};
  const Tensor& last = bucket.tensors.back();
  return bucket.gradients.slice(0, last.offset + last.count, bucket.gradients.modelled_count());
}

}  // namespace

Accumulation::Accumulation(Device& device, std::span<const Bucket> buckets, int micro_batches)
    : device_(device), buckets_(buckets), micro_batches_(micro_batches) {
  if (micro_batches > 1) sums_.resize(buckets.size());
}

void Accumulation::keep(int index, Buffer loss) {
  const Device::Uncharged in_backward(device_);
  for (std::size_t i = 0; i < buckets_.size(); ++i) add(index, gradients_of(buckets_[i]), sums_[i]);
  add(index, loss, loss_);
}

void Accumulation::add(int index, Buffer x, OwnedBuffer& sum) {
  if (!has_data(x)) return;
  if (sum.view().count() == 0) sum = device_.allocate(x.shape());
  index == 0 ? device_.copy(x, sum) : device_.axpby(1.0F, x, 1.0F, sum);
}

void Accumulation::mean(const Bucket& bucket) {
  const Buffer gradients = gradients_of(bucket);
  if (micro_batches_ == 1 || !has_data(gradients)) return;
  const Device::Uncharged in_backward(device_);
  const float share = 1.0F / static_cast<float>(micro_batches_);
  device_.axpby(share, sums_[static_cast<std::size_t>(bucket.index)], share, gradients);
}

Buffer Accumulation::mean_loss(Buffer last) {
  if (micro_batches_ == 1 || !has_data(last)) return last;
  const Device::Uncharged in_backward(device_);
  const float share = 1.0F / static_cast<float>(micro_batches_);
  device_.axpby(share, last, share, loss_);
  return loss_;
}

}  // namespace trigram
