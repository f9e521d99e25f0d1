// What a backend implements for a process that is a rank: how its bytes reach the other ranks.
#pragma once

#include <exception>
#include <memory>

#include "backends/process/endings.hpp"
#include "backends/process/lanes/lane_context.hpp"
#include "backends/process/mail.hpp"
#include "core/lane/communicator.hpp"
#include "core/world/lane_groups.hpp"
#include "processes/host_group.hpp"

namespace trigram {

/// One rank's end of a network, for one run. Making it is collective, and so are `connect` and `communicator`, which
/// every rank calls for the same lanes and groups in one order. It outlives all that it makes.
class Transport {
 public:
  Transport() = default;
  virtual ~Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  /// The rank's first error, which a lane that waits for this network checks.
  Failure& failure() { return failure_; }
  /// Carries agree(), collect() and the results of a run.
  virtual HostGroup& host() = 0;
  /// Called once ranks have compared their configuration: every rank has `lanes` lanes.
  virtual void connect(int /*lanes*/) {}
  /// The kernels of one lane: by default those of the CPU.
  virtual std::shared_ptr<Kernels> kernels();
  /// This rank's communicator in one of `lane_groups`, on the lane of that index; no other lane uses it.
  virtual std::unique_ptr<Communicator> communicator(int lane, const RankPartition& partition,
                                                     const std::shared_ptr<LaneContext>& context) = 0;
  /// The point-to-point messages that RPC uses.
  virtual Mail& mail() = 0;
  /// Null where who has ended is not told.
  virtual Endings* endings() { return nullptr; }
  /// Whether ranks go on without one that is gone, where exchanges leave it out.
  virtual bool leaves_out() const { return false; }
  /// There: no message reaches this rank or leaves it any more, so that all who wait for it learn of that.
  virtual void end_messages() {}
  /// This rank has failed, and `failure` holds the error: tells ranks that wait for it why.
  virtual void fail(const std::exception_ptr& /*error*/) noexcept {}
  /// The rank failed or was destroyed without `leave`, and its program may keep running: makes sure that the other
  /// ranks end too, as MPI does by aborting the job when this process exits.
  virtual void mark_lost() noexcept {}

 private:
  Failure failure_;
};

}  // namespace trigram
