#include "core/primitives/pairs.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/topologies/topology.hpp"
#include "core/values/error.hpp"
#include "core/values/random.hpp"

namespace trigram {
namespace {

bool is_active(int rank) { return rank % 2 == 0; }

}  // namespace

PairAveraging::PairAveraging(Params& params)
    : owner_(params.owner()), topology_(params.get("topology", "complete", "whom an even rank may ask")) {}

Refusal PairAveraging::refuses(Option option) const {
  return option == Option::overlap ? "" : "a pair may span two nodes; leave --hierarchy out";
}

Cost PairAveraging::cost(const CostQuery& query) const {
  if (query.place.ranks == 1) return {};
  return sum_over_buckets(query, [&](const Shape& bucket) { return Cost{1, message_bytes(bucket)}; });
}

void PairAveraging::check(const CostQuery& query) const {
  for (int rank = 0; rank < query.place.ranks; ++rank) partners(query.place.ranks, rank);
}

std::vector<int> PairAveraging::partners(int ranks, int rank) const {
  const auto graph = make_topology(topology_, ranks);
  std::vector<int> peers = graph->sends_to(rank, 0);
  std::erase_if(peers, [rank](int peer) { return is_active(peer) == is_active(rank); });
  if (ranks == 1) return peers;
  require(graph->period() == 1, owner_, ": topology ", topology_,
          " changes from step to step, but pairs need a fixed one; use complete");
  require(!peers.empty(), owner_, ": topology ", topology_, " of ", ranks, " ranks gives rank ", rank,
          " no neighbour of the other parity (even ranks ask odd ones); use complete");
  return peers;
}

void PairAveraging::setup(Worker& worker, std::span<Bucket> buckets) {
  buckets_ = buckets;
  for (const Bucket& bucket : buckets) allocate(worker, bucket);
  left_out_.resize(buckets.size());
  if (is_active(worker.rank())) {
    partners_ = partners(worker.world_size(), worker.rank());
    return serving_.begin(worker);
  }
  for (const Bucket& bucket : buckets) {
    worker.device.copy(bucket.weights, shared_.emplace_back(worker.device.allocate(bucket.weights.shape())));
    worker.device.copy(bucket.weights, before_.emplace_back(worker.device.allocate(bucket.weights.shape())));
  }
  serving_.begin(worker, this);
}

void PairAveraging::before_forward(Worker& worker) {
  if (partners_.empty()) return;
  asked_ = partners_[Philox(worker.key(0, Phase::topology)).below(0, partners_.size())];
  for (const Bucket& bucket : buckets_) {
    pending_.start(worker, bucket, [this, one = question(worker, bucket, *asked_), index = bucket.index](Worker& lane) {
      char& left_out = left_out_[static_cast<std::size_t>(index)];
      left_out = ask_those_there(lane, std::span(&one, 1)).empty() ? 0 : 1;
      if (left_out == 0) answered(lane, index);
    });
  }
}

void PairAveraging::before_update(Worker& worker) {
  const std::optional<int> asked = std::exchange(asked_, std::nullopt);
  if (!asked) return;
  pending_.wait();
  for (const Bucket& bucket : buckets_) {
    if (left_out_[static_cast<std::size_t>(bucket.index)] == 0) settle(worker, bucket);
  }
  if (std::ranges::count(left_out_, 0) < std::ssize(left_out_)) std::erase(partners_, *asked);
}

void PairAveraging::take(Worker& lane, const Request& request) {
  reply_ = answer(lane, request, shared_[static_cast<std::size_t>(request.subject)]);
}

void PairAveraging::after_step(Worker& worker) {
  if (is_active(worker.rank())) return;
  // What this rank learned in the step joins what others have mixed in meanwhile.
  serving_.exclusively(worker, [&] {
    for (const Bucket& bucket : buckets_) {
      const auto index = static_cast<std::size_t>(bucket.index);
      const Buffer own = shared_[index], before = before_[index];
      worker.device.weighted_sum(std::array{own, bucket.weights, before}, std::array{1.0F, 1.0F, -1.0F}, own);
      worker.device.copy(own, bucket.weights);
      worker.device.copy(own, before);
    }
  });
}

void PairAveraging::quiesce(Worker& worker) {
  // Nobody asks any more. Where one is gone, who comes later may, and gets no answer.
  worker.runtime().barrier_with_all_there();
  after_step(worker);
}

void PairAveraging::finish(Worker& worker) {
  serving_.end(worker);
  after_step(worker);
}

}  // namespace trigram
