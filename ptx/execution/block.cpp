#include "ptx/execution/block.hpp"

#include <algorithm>
#include <ranges>

#include "ptx/observer.hpp"

namespace trigram::ptx {

namespace {

/// How many instructions a warp runs at most before another may.
constexpr std::uint64_t longest_turn = 256;

}  // namespace

Block::Block(const Kernel& kernel, const Launch& launch, Memory& memory, Schedule schedule, Observer* observer)
    : order_(schedule.order),
      state_{.kernel = kernel,
             .launch = launch,
             .memory = memory,
             .approximation = schedule.approximation,
             .observer = observer} {
  state_.shared.resize(std::size_t{kernel.shared_bytes} + launch.dynamic_shared_bytes);
  const std::uint64_t warps = (count(launch.block) + lanes_of_warp - 1) / lanes_of_warp;
  for (std::uint32_t number = 0; number < warps; ++number) warps_.emplace_back(state_, number, schedule);
}

void Block::run(Dimensions index, std::mt19937_64& random) {
  state_.index = index;
  std::ranges::fill(state_.shared, unwritten);
  for (Warp& warp : warps_) warp.begin();
  if (state_.observer != nullptr) state_.observer->block_begins(state_);
  do {
    while (Warp* warp = next_warp(random))
      warp->run(order_ == Order::shuffled ? random() % longest_turn + 1 : Warp::without_end);
  } while (release_barrier());
  for (Warp& warp : warps_) warp.end(unseen_);
  if (state_.observer != nullptr) state_.observer->block_ends(state_);
}

/// Of two blocks that store to one place, the one that ran first is seen last.
void Block::end() {
  for (const auto& [place, word] : std::views::reverse(unseen_)) word.put(place);
}

/// Nothing where all warps wait or have ended.
Warp* Block::next_warp(std::mt19937_64& random) {
  runnable_.clear();
  for (Warp& warp : warps_) {
    if (warp.can_run()) runnable_.push_back(&warp);
  }
  if (runnable_.empty()) return nullptr;
  if (order_ == Order::first_ahead) return runnable_.front();
  return order_ == Order::last_ahead ? runnable_.back() : runnable_[random() % runnable_.size()];
}

/// Lets all warps pass the barrier at which they wait; false where all have ended.
bool Block::release_barrier() {
  const auto waiting = std::ranges::find_if(warps_, &Warp::is_at_barrier);
  if (waiting == warps_.end()) return false;
  for (const Warp& warp : warps_) waiting->require_all_at_barrier(warp);
  if (state_.observer != nullptr) state_.observer->block_synchronizes(state_);
  for (Warp& warp : warps_) warp.pass_barrier();
  return true;
}

}  // namespace trigram::ptx
