// Messages without appointment between simulated ranks: each way is a flow of SimGrid between two hosts.
#pragma once

#include <deque>
#include <memory>
#include <set>
#include <simgrid/s4u.hpp>
#include <vector>

#include "backends/sim/platform/network.hpp"
#include "core/lane/service.hpp"

namespace trigram::sim {

class Simulation;
class SimRequests;

/// Every rank's end, by rank.
using Ends = std::vector<SimRequests*>;

/// A request under way, which the asker and the one who is asked share.
struct Sent {
  int asker;
  const Ask* ask;  ///< the asker's, while it waits
  OwnedBuffer content;
  simgrid::s4u::SemaphorePtr replied;  ///< released with each reply of one call
  Flow request;
  Flow reply;  ///< once there is one
};

/// One rank's end. A request is there when its flow has ended, and its bytes travel with it; flows of several askers
/// share links as any others do.
class SimRequests final : public Requests {
 public:
  /// Takes its place in `ends`. Its rank's devices are those of `runtime`.
  SimRequests(Simulation& simulation, Ends& ends, RankRuntime& runtime, int rank);

  void open(bool) override {}
  void ask(int lane, std::span<const Ask> asks) override;
  std::vector<int> ask_those_there(int lane, std::span<const Ask> asks) override;
  std::unique_ptr<Request> next() override;
  void leave() override;
  void exclusively(const std::function<void()>& body) override;

 private:
  class Asking;
  /// Gives planned losses, which did not reply.
  std::set<int> ask_all(int lane, std::span<const Ask> asks);
  /// The last byte of a request is here.
  void arrive(std::shared_ptr<Sent> sent);
  void wake();

  Simulation& simulation_;
  Ends& ends_;
  RankRuntime& runtime_;
  int rank_;
  std::deque<std::shared_ptr<Sent>> arrived_;
  simgrid::s4u::SemaphorePtr more_ = simgrid::s4u::Semaphore::create(0);
  bool waits_ = false;
  simgrid::s4u::MutexPtr guard_ = simgrid::s4u::Mutex::create();
};

}  // namespace trigram::sim
