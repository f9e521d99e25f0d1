// Looks after a rank's GPU work from a thread of its own, and ends the process when it is in trouble.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <thread>

#include "backends/gpu/nccl_group.hpp"
#include "backends/gpu/recorder.hpp"
#include "meeting/rendezvous.hpp"
#include "processes/last_resort.hpp"

namespace trigram::gpu {

/// An operation that takes longer than the timeout, an error that NCCL or CUDA report later, or another rank's failure:
/// the watchdog reports it with rank, lane, operation and number, tells the other ranks, aborts all groups, and ends
/// the process with exit code 1. With a way out it opens that in place of ending the process, before it aborts, as it
/// does where somebody asks for it. When even aborting hangs, the process ends without it.
class Watchdog {
 public:
  /// `report` gets the message before anything else happens; `device` is the one that this process uses.
  Watchdog(Rendezvous& rendezvous, int device, std::function<void(const std::string&)> report,
           std::shared_ptr<WayOut> way_out = nullptr);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  Recorder& recorder() { return recorder_; }
  /// Seconds that one operation may take; 0: forever.
  void use_timeout(double seconds) { timeout_ = seconds; }
  /// From now on also this group, of that lane, until it is gone.
  void look_after(const std::shared_ptr<NcclGroup>& group, int lane_index);

  /// While it lives, the host is inside `what`, which may take as long as one operation.
  class HostCall {
   public:
    HostCall(Watchdog& watchdog, std::string what);
    ~HostCall();
    HostCall(const HostCall&) = delete;
    HostCall& operator=(const HostCall&) = delete;

   private:
    Watchdog& watchdog_;
  };

  /// This rank fails by itself: tells the others, aborts, and gives the process a few seconds to end.
  void fail(const std::string& reason) noexcept;
  /// The good end: all groups are finished, and nothing is looked after any more. Does nothing after `fail`.
  void finish() noexcept;

 private:
  struct Looked {
    std::weak_ptr<NcclGroup> group;
    int lane_index;
  };

  void watch();
  /// Why the job must end, with the rank whose fault it is; nothing while all is well.
  std::optional<JobFailure> trouble();
  std::string stuck_host_call(double timeout);
  JobFailure reason_behind(const std::string& error);
  std::string asynchronous_error();
  std::vector<std::shared_ptr<NcclGroup>> groups();
  void abort_all();
  void say_unless_well(const std::string& trouble) const;
  [[noreturn]] void end_process(const JobFailure& failure);
  void open_way_out(const JobFailure& failure) noexcept;
  void stop();

  Rendezvous& rendezvous_;
  const int device_;
  const std::function<void(const std::string&)> report_;
  const std::shared_ptr<WayOut> way_out_;
  Recorder recorder_;
  std::atomic<double> timeout_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Looked> looked_after_;
  std::string host_call_;       ///< what the host is inside of; empty: nothing
  double host_call_begun_ = 0;  ///< by seconds_now
  bool stopped_ = false;
  std::atomic<bool> failed_ = false;
  LastResort last_resort_;
  std::thread thread_;
};

}  // namespace trigram::gpu
