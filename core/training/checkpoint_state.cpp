#include "core/training/checkpoint_state.hpp"

#include "core/step/handed_state.hpp"
#include "core/training/handover.hpp"
#include "core/values/packing.hpp"

namespace trigram {

namespace {

bool is_handed_over(const CheckpointOptions::Bytes& held) { return Unpacker(held).take_text() == handed_over; }

}  // namespace

std::string weights_item_of(const Bucket& bucket) { return std::string(weights_item) + std::to_string(bucket.index); }

CheckpointOptions::Bytes load_checkpoint(const CheckpointOptions& options, int rank, Device& device,
                                         std::span<const Bucket> buckets) {
  if (!options.load) return {};
  CheckpointOptions::Bytes held = options.load(rank);
  if (!is_handed_over(held)) return held;
  HandedState mean(device, held);
  for (const Bucket& bucket : buckets) mean.buffer(std::string(mean_of) + weights_item_of(bucket), bucket.weights);
  return held;
}

void read_checkpoint(const CheckpointOptions::Bytes& held, Device& device, const std::function<void(State&)>& list) {
  if (is_handed_over(held)) {
    HandedState state(device, held);
    return list(state);
  }
  Unpacker unpacker(held);
  StateReader state(device, unpacker);
  list(state);
}

}  // namespace trigram
