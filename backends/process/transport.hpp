// What a backend brings for a process that is a rank: how its bytes reach the other ranks.
#pragma once

#include <exception>
#include <memory>

#include "backends/process/lane_context.hpp"
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

  /// The rank's first error, at which whoever waits for this network looks.
  Failure& failure() { return failure_; }
  /// Agreement, collections and results go by it.
  virtual HostGroup& host() = 0;
  /// All ranks were given the same configuration, and have so many lanes.
  virtual void connect(int /*lanes*/) {}
  /// The arithmetic of one lane: by default the processor's.
  virtual std::shared_ptr<Kernels> kernels();
  /// This rank's communicator in one of `lane_groups`, on the lane of that index; no other lane uses it.
  virtual std::unique_ptr<Communicator> communicator(int lane, const Parting& parting,
                                                     const std::shared_ptr<LaneContext>& context) = 0;
  /// What RPC travels by.
  virtual Mail& mail() = 0;
  /// This rank has failed, as `failure` knows by then: ranks that wait for it are to learn why.
  virtual void fail(const std::exception_ptr& /*error*/) noexcept {}
  /// The rank is gone without having left, in a process whose program may go on as if nothing was.
  virtual void forsake() noexcept {}

 private:
  Failure failure_;
};

}  // namespace trigram
