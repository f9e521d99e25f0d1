#include "core/primitives/decentralized.hpp"

#include <algorithm>

#include "core/compression/encoding_error.hpp"
#include "core/compression/encoding_key.hpp"
#include "core/compression/frames.hpp"
#include "core/values/error.hpp"

namespace trigram {

void decentralized_full_precision(Worker& lane, const Topology& topology, std::int64_t round, Buffer x) {
  gossip(lane, topology, round, {x});
}

Cost decentralized_full_precision_cost(const CostQuery& query, const Topology& topology, std::int64_t round,
                                       const Shape& bucket) {
  return gossip_cost(query, topology, round, {bucket});
}

DecentralizedLowPrecision::DecentralizedLowPrecision(Worker& worker, const Bucket& bucket,
                                                     std::shared_ptr<const Codec> codec,
                                                     std::shared_ptr<const Topology> topology)
    : codec_(std::move(codec)), topology_(std::move(topology)), bucket_(bucket.index) {
  const PrimitiveGroup group = primitive_group(worker, bucket.weights);
  if (group.comm == nullptr || group.comm->size() == 1) return;
  const auto replica = [&] {
    OwnedBuffer copy = worker.device.allocate(group.part.shape());
    worker.device.copy(group.part, copy);
    return copy;
  };
  self_ = replica();
  const std::size_t degree = topology_->receives_from(group.comm->rank(), 0).size();
  for (std::size_t i = 0; i < degree; ++i) neighbours_.push_back(replica());
}

void DecentralizedLowPrecision::mix(Worker& lane, Buffer x) {
  hierarchical(lane, x, NodeValue::mean, [&](Communicator& group, Buffer part) {
    if (group.size() > 1) exchange_differences(lane, group, part);
  });
}

void DecentralizedLowPrecision::list_state(State& state) {
  state.buffer("own replica", self_, Fate::anew);
  state.buffers("replica of neighbour", neighbours_, Fate::anew);
}

void DecentralizedLowPrecision::exchange_differences(Worker& lane, Communicator& group, Buffer x) {
  const int self = group.rank();
  const std::vector<int> peers = topology_->receives_from(self, 0);
  const std::vector<Shape> vectors(peers.size() + 1, x.shape());
  const Frames frames = Frames::row(group, *codec_, vectors);
  const Buffer own = frames.last();
  Key key = vector_key(lane, group, bucket_);
  difference(lane, self, peers, x);
  codec_->encode(lane.device, x, own, key);
  const std::vector<int> gone = swap_with_peers(group, peers, frames);

  codec_->decode_add(lane.device, own, 1.0F, self_, key);
  for (std::size_t i = 0; i < peers.size(); ++i) {
    if (std::ranges::binary_search(gone, peers[i])) continue;
    key.rank = peers[i];
    codec_->decode_add(lane.device, frames[static_cast<int>(i)], 1.0F, neighbours_[i], key);
  }
  lane.device.copy(self_, x);
}

void DecentralizedLowPrecision::difference(Worker& lane, int self, const std::vector<int>& peers, Buffer x) {
  const Topology::Row row = topology_->row(self, 0);
  std::vector<Buffer> terms{x};
  std::vector<float> weights{1.0F};
  for (std::size_t i = 0; i < peers.size(); ++i) {
    terms.push_back(neighbours_[i]);
    weights.push_back(static_cast<float>(row.at(peers[i])));
  }
  terms.push_back(self_);
  weights.push_back(static_cast<float>(row.at(self) - 2.0));
  lane.device.weighted_sum(terms, weights, x);
}

Invariants decentralized_low_precision_invariants(const CostQuery& query, const Topology& topology,
                                                  const Codec& codec) {
  constexpr double gradients_in_a_difference = 3, coarse = 0.02;
  const double error = encoding_error(query.buckets, codec);
  Invariants held;
  held.mean_error = gradients_in_a_difference * error;
  if (error < coarse) held.contraction = contraction_of(topology);
  return held;
}

Cost decentralized_low_precision_cost(const CostQuery& query, const Topology& topology, const Shape& bucket,
                                      const Codec& codec) {
  return hierarchical_cost(
      query.hierarchy, query.place, bucket.modelled_count, size_of(bucket.dtype),
      [&](int, int rank, std::int64_t count) { return neighbour_cost(topology, rank, 0, codec.encoded_bytes(count)); });
}

}  // namespace trigram
