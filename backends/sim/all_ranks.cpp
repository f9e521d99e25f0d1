#include "backends/sim/all_ranks.hpp"

#include <algorithm>

#include "backends/sim/engine/blocking.hpp"

namespace trigram::sim {

namespace sg = simgrid::s4u;

std::int64_t AllRanks::agree(int rank, std::int64_t value, ReduceOp op) {
  if (failures_.any_dead()) {
    for (int peer = 0; peer < ranks_; ++peer) failures_.require_alive(rank, peer);
  }
  if (agreed_ranks_ == 0) {
    agreeing_ = value;
  } else if (op == ReduceOp::min) {
    agreeing_ = std::min(agreeing_, value);
  } else if (op == ReduceOp::max) {
    agreeing_ = std::max(agreeing_, value);
  } else {
    agreeing_ += value;
  }
  if (++agreed_ranks_ == ranks_) {
    agreed_ranks_ = 0;
    agreed_ = op == ReduceOp::mean ? agreeing_ / ranks_ : agreeing_;
  }
  const Blocked blocked(watch_, watch_.op(rank, 0), "agree", *everybody_);
  const Standstill::Rest rest(watch_.standstill());
  blocking([&] { agreement_.wait(); });
  return agreed_;
}

void AllRanks::meet(int rank) {
  while (turns_.size() < static_cast<std::size_t>(ranks_)) turns_.push_back(sg::Semaphore::create(0));
  agree(rank, 0, ReduceOp::sum);
  const auto next = static_cast<std::size_t>(rank) + 1;
  blocking([&] {
    const Standstill::Rest rest(watch_.standstill());
    if (rank > 0) turns_[next - 1]->acquire();
    if (next < turns_.size()) turns_[next]->release();
  });
}

void AllRanks::collect(int rank, std::int64_t key, std::vector<std::byte> part,
                       const std::function<void(RankRuntime::Parts)>& complete) {
  Collection& collection = collections_[key];
  collection.parts.resize(static_cast<std::size_t>(ranks_));
  collection.parts[static_cast<std::size_t>(rank)] = std::move(part);
  if (++collection.handed_in < ranks_) return;
  RankRuntime::Parts parts = std::move(collection.parts);
  collections_.erase(key);
  complete(std::move(parts));
}

}  // namespace trigram::sim
