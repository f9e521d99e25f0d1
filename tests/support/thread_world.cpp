// What the ranks of one run on threads share, and one rank's runtime.
#include "tests/support/thread_world.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "kernels/cpu/kernels.hpp"

namespace trigram {

ThreadWorld::ThreadWorld(const World& world, std::vector<int> node_of_rank, double timeout_seconds)
    : world_(world), node_of_rank_(std::move(node_of_rank)), inboxes_(static_cast<std::size_t>(world.ranks)) {
  network_->timeout = std::chrono::duration<double>(timeout_seconds);
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
    : world_(world), rank_(rank), requests_(world.network(), world.inboxes(), rank) {
  const int lanes = 2 + world_.world().bucket_lanes;
  for (int index = 0; index < lanes; ++index) lanes_.push_back(make_lane(index));
  host_ =
      std::make_unique<ThreadCommunicator>(world_.network(), "host", rank, world_.world().ranks, *lanes_[0]->device);
  for (int index = 1; index < lanes; ++index) {
    threads_.push_back(std::make_unique<LaneThread>([&world] { world.release(); }));
  }
}

std::unique_ptr<Lane> ThreadRuntime::make_lane(int index) {
  auto lane = std::make_unique<Lane>(
      index, [this] { return now(); }, world_.world().keep_spans);
  lane->device = std::make_unique<Device>(cpu_kernels(), lane->timeline);
  const auto group = [&](const std::string& name, int rank, int size) {
    auto comm = std::make_unique<ThreadCommunicator>(world_.network(), "lane " + std::to_string(index) + name, rank,
                                                     size, *lane->device);
    comm->use_all_reduce(world_.world().all_reduce);
    return metered(std::move(comm), lane->meter, lane->timeline);
  };
  const Placement place = placement(world_.node_of_rank(), rank_);
  int node_position = 0;
  int nodes_with_local_rank = 0;
  for (int r = 0; r < world_.world().ranks; ++r) {
    const Placement other = placement(world_.node_of_rank(), r);
    if (other.local_rank != place.local_rank) continue;
    node_position += other.node < place.node ? 1 : 0;
    ++nodes_with_local_rank;
  }
  lane->comm = group("", rank_, world_.world().ranks);
  lane->node = group(" node " + std::to_string(place.node), place.local_rank, place.node_size);
  lane->leaders = group(" local rank " + std::to_string(place.local_rank), node_position, nodes_with_local_rank);
  return lane;
}

Pending ThreadRuntime::launch(int lane, std::function<void()> body) {
  ensure(lane >= 1 && lane < lanes(),
         "lane " + std::to_string(lane) + " cannot be started; there are lanes 1 to " + std::to_string(lanes() - 1));
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
