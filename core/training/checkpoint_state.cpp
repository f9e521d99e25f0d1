#include "core/training/checkpoint_state.hpp"

#include "core/step/handed_state.hpp"
#include "core/step/state_size.hpp"
#include "core/training/handover.hpp"
#include "core/values/packing.hpp"

namespace trigram {

namespace {

bool is_handed_over(const CheckpointOptions::Bytes& held) { return Unpacker(held).take_text() == handed_over; }

}  // namespace

std::string weights_item_of(const Bucket& bucket) { return std::string(weights_item) + std::to_string(bucket.index); }

void load_mean_weights(const CheckpointOptions::Bytes& handed, Device& device, std::span<const Bucket> buckets) {
  HandedState mean(device, handed);
  for (const Bucket& bucket : buckets) mean.buffer(std::string(mean_of) + weights_item_of(bucket), bucket.weights);
}

CheckpointOptions::Bytes load_checkpoint(const CheckpointOptions& options, int rank, Device& device,
                                         std::span<const Bucket> buckets) {
  if (!options.load) return {};
  CheckpointOptions::Bytes held = options.load(rank);
  if (is_handed_over(held)) load_mean_weights(held, device, buckets);
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

void fetch_state(const TakeUp& take_up, Worker& worker, const std::function<void(State&)>& list) {
  if (take_up.fetch_from.empty()) return;
  StateSize size;
  list(size);
  const std::int64_t bytes = worker.runtime().agree(size.bytes(), ReduceOp::max);
  const Shape shape{take_up.as_phantom ? 0 : bytes, DType::u8, bytes, take_up.as_phantom};
  std::vector<OwnedBuffer> memory;
  std::vector<Transfer> transfers;
  for (int rank = 0; rank < worker.world_size(); ++rank) {
    const int from = take_up.fetch_from[static_cast<std::size_t>(rank)];
    if (from == rank || (from != worker.rank() && rank != worker.rank())) continue;
    const Buffer content = memory.emplace_back(worker.device.allocate(shape));
    transfers.push_back(rank == worker.rank() ? Transfer::receive_from(from, content)
                                              : Transfer::send_to(rank, content));
  }
  if (!transfers.empty()) worker.comm.exchange(transfers);
  worker.device.synchronize();
}

}  // namespace trigram
