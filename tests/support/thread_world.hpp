// What the ranks of one run on threads share, and one rank's runtime.
#pragma once

#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "core/backend.hpp"
#include "core/lane_groups.hpp"
#include "tests/support/stopping_clock.hpp"
#include "tests/support/thread_communicator.hpp"
#include "tests/support/thread_lane.hpp"
#include "tests/support/thread_requests.hpp"

namespace trigram {

/// The shared side of one run.
class ThreadWorld {
 public:
  ThreadWorld(const World& world, const std::vector<int>& node_of_rank, double timeout_seconds,
              ThreadMutation mutation = ThreadMutation::none);

  const World& world() const { return world_; }
  const std::shared_ptr<const RankMap>& map() const { return map_; }
  const std::shared_ptr<ThreadNetwork>& network() const { return network_; }
  StoppingClock& clock() { return clock_; }
  /// What has been asked of each rank.
  std::vector<Inbox>& inboxes() { return inboxes_; }

  /// Lets every blocked rank go.
  void release();
  /// The first error counts; ranks that were only let go have none of their own. Releases the others.
  void fail(std::exception_ptr error);
  void rethrow_failure();

  void collect(std::int64_t key, int rank, std::vector<std::byte> part,
               const std::function<void(RankRuntime::Parts)>& complete);

 private:
  struct Collection {
    RankRuntime::Parts parts;
    int missing;
  };

  World world_;
  std::shared_ptr<const RankMap> map_;
  std::shared_ptr<ThreadNetwork> network_ = std::make_shared<ThreadNetwork>();
  StoppingClock clock_;
  std::vector<Inbox> inboxes_;
  std::mutex mutex_;
  std::exception_ptr error_;
  bool only_released_ = true;
  std::map<std::int64_t, Collection> collections_;
};

/// One rank: its lanes, each with communicators of its own and, but for the main one, a thread.
class ThreadRuntime final : public RankRuntime {
 public:
  ThreadRuntime(ThreadWorld& world, int rank);

  Lane& lane(int index) override { return *lanes_.at(static_cast<std::size_t>(index)); }
  double now() const override { return world_.clock().now(); }
  Pending launch(int lane, std::function<void()> body) override;
  std::int64_t agree(std::int64_t value, ReduceOp op) override;
  Requests& requests() override { return requests_; }
  void stop_lanes() override {
    world_.release();
    RankRuntime::stop_lanes();
  }
  void collect(std::int64_t key, std::vector<std::byte> part, const std::function<void(Parts)>& complete) override {
    world_.collect(key, rank(), std::move(part), complete);
  }

 private:
  std::unique_ptr<Lane> make_lane(int index, const std::vector<Parting>& partings);

  ThreadWorld& world_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  ThreadRequests requests_;
  std::unique_ptr<ThreadCommunicator> host_;          ///< for agree alone: no meter, no lane
  std::vector<std::unique_ptr<ThreadLane>> threads_;  ///< last: they end before what they use
};

}  // namespace trigram
