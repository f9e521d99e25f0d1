// A rank whose lanes are threads, on any transport.
#pragma once

#include <memory>
#include <vector>

#include "backends/process/lanes/threaded_lanes.hpp"
#include "backends/process/message_requests.hpp"
#include "backends/process/process_runtime.hpp"
#include "backends/process/transport.hpp"

namespace trigram {

/// Making it is collective: ranks compare their configuration, and then every lane gets communicators of its own.
class ThreadedRuntime final : public ProcessRuntime {
 public:
  ThreadedRuntime(std::unique_ptr<Transport> transport, const World& world, std::vector<int> node_of_rank,
                  double timeout);

  Lane& lane(int index) override { return lanes_->lane(index); }
  Pending launch(int lane, std::function<void()> task) override;
  Requests& requests() override { return requests_; }
  bool barrier_with_all_there() override;
  void begin_step(std::int64_t begun) override;
  void tell_end(std::int64_t steps) override;
  void stop_lanes() override;
  void fail(const std::exception_ptr& error) noexcept override;
  void mark_lost() noexcept override { transport_->mark_lost(); }

 private:
  std::unique_ptr<Transport> transport_;
  MessageRequests requests_;
  std::unique_ptr<ThreadedLanes> lanes_;  ///< last member, so that lanes end while the transport can still wake them
};

}  // namespace trigram
