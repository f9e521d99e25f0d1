#include "backends/sim/all_ranks.hpp"

#include <algorithm>

#include "backends/sim/engine/blocking.hpp"

namespace trigram::sim {

namespace sg = simgrid::s4u;

std::int64_t AllRanks::agree(int rank, std::int64_t value, ReduceOp op) {
  complete_for_lost(rank);
  if (failures_.any_dead()) {
    for (int peer = 0; peer < ranks_; ++peer) failures_.require_alive(rank, peer);
  }
  const Blocked blocked(watch_, watch_.op(rank, 0), "agree", *everybody_);
  const Standstill::Rest rest(watch_.standstill());
  // Nobody else runs, and is lost, from here until the barrier has counted this rank too.
  if (agreed_ranks_ == 0) {
    agreeing_ = value;
  } else if (op == ReduceOp::min) {
    agreeing_ = std::min(agreeing_, value);
  } else if (op == ReduceOp::max) {
    agreeing_ = std::max(agreeing_, value);
  } else {
    agreeing_ += value;
  }
  agreeing_by_ = op;
  agrees_[static_cast<std::size_t>(rank)] = true;
  if (++agreed_ranks_ == ranks_ - lost_) end_agreement();
  blocking([&] { agreement_.wait(); });
  return agreed_;
}

void AllRanks::end_agreement() {
  agreed_ = agreeing_by_ == ReduceOp::mean ? agreeing_ / agreed_ranks_ : agreeing_;
  agreed_ranks_ = 0;
  agrees_.assign(agrees_.size(), false);
  turn_ = next_there(0);
}

void AllRanks::meet(int rank) {
  agree(rank, 0, ReduceOp::sum);
  take_turn(rank);
}

bool AllRanks::meet_those_there(int rank) {
  agree(rank, 0, ReduceOp::sum);
  const double met = sg::Engine::get_clock();
  if (losses_.has_unnoticed(met)) blocking([&] { sg::this_actor::sleep_until(met + losses_.detection_s()); });
  losses_.notice(met);
  take_turn(rank);
  return lost_ == 0;
}

void AllRanks::take_turn(int rank) {
  while (turns_.size() < static_cast<std::size_t>(ranks_)) turns_.push_back(sg::Semaphore::create(0));
  blocking([&] {
    const Standstill::Rest rest(watch_.standstill());
    while (turn_ != rank) turns_[static_cast<std::size_t>(rank)]->acquire();
    pass_turn();
  });
}

void AllRanks::pass_turn() {
  turn_ = next_there(turn_ + 1);
  if (turn_ < static_cast<int>(turns_.size())) turns_[static_cast<std::size_t>(turn_)]->release();
}

int AllRanks::next_there(int rank) const {
  while (rank < ranks_ && failures_.dead(rank)) ++rank;
  return rank;
}

void AllRanks::lose(int rank) {
  ++lost_;
  const bool was_here = agrees_[static_cast<std::size_t>(rank)];
  if (was_here) --agreed_ranks_;
  if (agreed_ranks_ > 0 && agreed_ranks_ == ranks_ - lost_) end_agreement();
  agreement_.expect_one_less(was_here);
  if (turn_ == rank) pass_turn();
}

void AllRanks::collect(int rank, std::int64_t key, std::vector<std::byte> part, const Complete& complete) {
  complete_for_lost(rank);
  Collection& collection = collections_[key];
  collection.parts.resize(static_cast<std::size_t>(ranks_));
  collection.handed_in.resize(static_cast<std::size_t>(ranks_));
  collection.parts[static_cast<std::size_t>(rank)] = std::move(part);
  collection.handed_in[static_cast<std::size_t>(rank)] = true;
  ++collection.count;
  if (losses_.any()) collection.complete[rank] = complete;
  if (!is_whole(collection)) return;
  RankRuntime::Parts parts = std::move(collection.parts);
  collections_.erase(key);
  complete(std::move(parts));
}

bool AllRanks::is_whole(const Collection& collection) const {
  if (collection.count == ranks_ || lost_ == 0) return collection.count == ranks_;
  for (int rank = 0; rank < ranks_; ++rank) {
    if (!collection.handed_in[static_cast<std::size_t>(rank)] && !failures_.dead(rank)) return false;
  }
  return true;
}

void AllRanks::complete_for_lost(int rank) {
  for (auto at = collections_.begin(); lost_ > 0 && at != collections_.end();) {
    if (!is_whole(at->second)) {
      ++at;
      continue;
    }
    Collection collection = std::move(at->second);
    at = collections_.erase(at);
    collection.complete.at(rank)(std::move(collection.parts));
  }
}

}  // namespace trigram::sim
