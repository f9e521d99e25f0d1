// What the ranks of one run on threads share, and one rank's runtime.
#include "tests/support/thread_world.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "kernels/cpu/kernels.hpp"

namespace trigram {

ThreadWorld::ThreadWorld(const World& world, const std::vector<int>& node_of_rank, double timeout_seconds,
                         ThreadMutation mutation)
    : world_(world),
      map_(std::make_shared<RankMap>(world.axes(), node_of_rank)),
      inboxes_(static_cast<std::size_t>(world.ranks)) {
  network_->timeout = std::chrono::duration<double>(timeout_seconds);
  network_->mutation = mutation;
}

void ThreadWorld::release() {
  network_->channels.release();
  for (Inbox& inbox : inboxes_) inbox.release();
}

void ThreadWorld::fail(std::exception_ptr error) {
  bool only_released = false;
  try {
    std::rethrow_exception(error);
  } catch (const Released&) {
    only_released = true;
  } catch (...) {
    only_released = false;
  }
  {
    const std::lock_guard lock(mutex_);
    if (error_ == nullptr || (only_released_ && !only_released)) {
      error_ = std::move(error);
      only_released_ = only_released;
    }
  }
  release();
}

void ThreadWorld::rethrow_failure() {
  const std::lock_guard lock(mutex_);
  if (error_ != nullptr) std::rethrow_exception(std::exchange(error_, nullptr));
}

void ThreadWorld::collect(std::int64_t key, int rank, std::vector<std::byte> part,
                          const std::function<void(RankRuntime::Parts)>& complete) {
  RankRuntime::Parts whole;
  {
    const std::lock_guard lock(mutex_);
    const auto ranks = static_cast<std::size_t>(world_.ranks);
    Collection& collection =
        collections_.try_emplace(key, Collection{RankRuntime::Parts(ranks), world_.ranks}).first->second;
    collection.parts[static_cast<std::size_t>(rank)] = std::move(part);
    if (--collection.missing > 0) return;
    whole = std::move(collection.parts);
    collections_.erase(key);
  }
  clock_.stop();
  try {
    complete(std::move(whole));
  } catch (...) {
    clock_.resume();
    throw;
  }
  clock_.resume();
}

ThreadRuntime::ThreadRuntime(ThreadWorld& world, int rank)
    : RankRuntime(rank, world.map(), world.world().layout()),
      world_(world),
      requests_(world.network(), world.inboxes(), rank) {
  const std::vector<Parting> partings = lane_groups(map());
  for (int index = 0; index < lanes(); ++index) lanes_.push_back(make_lane(index, partings));
  host_ =
      std::make_unique<ThreadCommunicator>(world_.network(), "host", rank, world_.world().ranks, *lanes_[0]->device);
  for (int index = 1; index < lanes(); ++index) {
    threads_.push_back(std::make_unique<ThreadLane>([&world] { world.release(); }));
  }
}

std::unique_ptr<Lane> ThreadRuntime::make_lane(int index, const std::vector<Parting>& partings) {
  auto lane = std::make_unique<Lane>(index, world_.world(), [this] { return now(); });
  lane->device = std::make_unique<Device>(cpu_kernels(), lane->timeline);
  lane->join_groups(world_.world(), map(), rank(), [&](std::size_t group) {
    const Parting& parting = partings[group];
    const std::vector<int> members = parting.group_of(rank());
    const auto own = std::ranges::find(members, rank()) - members.begin();
    const std::string name = "lane " + std::to_string(index) + " " + parting.name + " " +
                             std::to_string(parting.color[static_cast<std::size_t>(rank())]);
    return std::make_unique<ThreadCommunicator>(world_.network(), name, static_cast<int>(own),
                                                static_cast<int>(members.size()), *lane->device);
  });
  return lane;
}

Pending ThreadRuntime::launch(int lane, std::function<void()> body) {
  layout().require_startable(lane);
  return threads_[static_cast<std::size_t>(lane - 1)]->launch(std::move(body));
}

std::int64_t ThreadRuntime::agree(std::int64_t value, ReduceOp op) {
  const std::vector<std::int64_t> values = host_->all_gather_values(value);
  if (op == ReduceOp::min) return *std::min_element(values.begin(), values.end());
  if (op == ReduceOp::max) return *std::max_element(values.begin(), values.end());
  const std::int64_t sum = std::accumulate(values.begin(), values.end(), std::int64_t{0});
  return op == ReduceOp::mean ? sum / world_.world().ranks : sum;
}

}  // namespace trigram
