#include "backends/gpu/watchdog.hpp"

#include <unistd.h>

#include <chrono>
#include <limits>

#include "backends/gpu/host/nccl_words.hpp"
#include "core/values/error.hpp"
#include "processes/clock.hpp"

namespace trigram::gpu {
namespace {

constexpr std::chrono::milliseconds round{50};
constexpr std::chrono::milliseconds cause_may_take{1500};
constexpr double longest_round = 60;  ///< seconds that a look at all events may take before the watchdog itself hangs
constexpr double ending = 5;          ///< seconds for abort and goodbye
constexpr double finishing = 10;
constexpr int version_that_aborts_together = 22200;

}  // namespace

Watchdog::Watchdog(Rendezvous& rendezvous, int device, std::function<void(const std::string&)> report,
                   std::shared_ptr<WayOut> way_out)
    : rendezvous_(rendezvous),
      device_(device),
      report_(std::move(report)),
      way_out_(std::move(way_out)),
      thread_([this] { watch(); }) {}

Watchdog::~Watchdog() { stop(); }

void Watchdog::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Watchdog::look_after(const std::shared_ptr<NcclGroup>& group, int lane_index) {
  const std::lock_guard lock(mutex_);
  std::erase_if(looked_after_, [](const Looked& looked) { return looked.group.expired(); });
  looked_after_.push_back({group, lane_index});
}

Watchdog::HostCall::HostCall(Watchdog& watchdog, std::string what) : watchdog_(watchdog) {
  const std::lock_guard lock(watchdog_.mutex_);
  watchdog_.host_call_ = std::move(what);
  watchdog_.host_call_begun_ = seconds_now();
}

Watchdog::HostCall::~HostCall() {
  const std::lock_guard lock(watchdog_.mutex_);
  watchdog_.host_call_.clear();
}

std::string Watchdog::stuck_host_call(double timeout) {
  const std::lock_guard lock(mutex_);
  if (timeout <= 0 || host_call_.empty() || seconds_now() - host_call_begun_ < timeout) return {};
  return host_call_ + " has waited " + number_text(timeout) + " s for the other ranks";
}

void Watchdog::watch() {
  // Each thread has a current device of its own; events of this rank's are asked from here.
  if (const cudaError_t status = cudaSetDevice(device_); status != cudaSuccess) {
    const std::string who = "rank " + std::to_string(rendezvous_.rank());
    end_process({rendezvous_.rank(), who + ": its watchdog cannot use device " + std::to_string(device_) +
                                         ": cudaSetDevice: " + cudaGetErrorString(status)});
  }
  while (true) {
    last_resort_.expect_within(longest_round, "rank " + std::to_string(rendezvous_.rank()) +
                                                  ": the GPU's driver does not answer; the process ends");
    // A rank that fails by itself ends by itself, with its own error, although others may read of it already.
    if (const std::optional<JobFailure> failure = trouble(); failure && !failed_) {
      if (way_out_ == nullptr) end_process(*failure);
      return open_way_out(*failure);
    }
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, round, [this] { return stopped_; })) continue;
    return last_resort_.rest();
  }
}

std::optional<JobFailure> Watchdog::trouble() {
  const int rank = rendezvous_.rank();
  try {
    if (std::optional<JobFailure> failure = rendezvous_.failure()) return failure;
    if (const std::string asked = way_out_ == nullptr ? "" : way_out_->asked(); !asked.empty())
      return JobFailure{rank, asked};
    const double timeout = timeout_;
    const std::optional<std::string> stuck =
        recorder_.stuck_for(timeout > 0 ? timeout : std::numeric_limits<double>::infinity(), seconds_now());
    if (stuck) return JobFailure{rank, *stuck};
    if (std::string stuck_inside = stuck_host_call(timeout); !stuck_inside.empty())
      return JobFailure{rank, stuck_inside};
    const std::string error = asynchronous_error();
    if (!error.empty()) return reason_behind(error);
  } catch (const std::exception& error) {
    return JobFailure{rank, "rank " + std::to_string(rank) + ": " + error.what()};
  }
  return std::nullopt;
}

/// NCCL notices that a peer is gone before anybody says why it went: the cause is worth a short wait.
JobFailure Watchdog::reason_behind(const std::string& error) {
  for (auto waited = round; waited < cause_may_take; waited += round) {
    if (std::optional<JobFailure> failure = rendezvous_.failure()) return *failure;
    std::this_thread::sleep_for(round);
  }
  return {rendezvous_.rank(), error};
}

std::string Watchdog::asynchronous_error() {
  std::list<Looked> all;
  {
    const std::lock_guard lock(mutex_);
    all = looked_after_;
  }
  for (const Looked& looked : all) {
    const std::shared_ptr<NcclGroup> group = looked.group.lock();
    const std::string error = group == nullptr ? "" : group->asynchronous_error();
    if (error.empty()) continue;
    const std::string running = recorder_.running_on(looked.lane_index);
    return running.empty() ? error : running + ": " + error;
  }
  return {};
}

std::vector<std::shared_ptr<NcclGroup>> Watchdog::groups() {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<NcclGroup>> alive;
  for (const Looked& looked : looked_after_) {
    if (std::shared_ptr<NcclGroup> group = looked.group.lock()) alive.push_back(std::move(group));
  }
  return alive;
}

/// What fails at the end of a rank changes nothing any more, but whoever looks for a hang should know.
void Watchdog::say_unless_well(const std::string& trouble) const {
  if (!trouble.empty()) write_line("trigram: rank " + std::to_string(rendezvous_.rank()) + ": " + trouble);
}

/// Kernels of one group may wait for those of another, so they are aborted together where NCCL can.
void Watchdog::abort_all() {
  const std::vector<std::shared_ptr<NcclGroup>> all = groups();
  if (all.empty()) return;
  const bool together = nccl_version() >= version_that_aborts_together;
  if (together) nccl().group_start();
  for (const std::shared_ptr<NcclGroup>& group : all) say_unless_well(group->abandon());
  const ncclResult_t ended = together ? nccl().group_end() : ncclSuccess;
  if (ended != ncclSuccess && ended != ncclInProgress) say_unless_well("aborting all groups: " + result_words(ended));
}

void Watchdog::end_process(const JobFailure& failure) {
  const bool own = failure.rank == rendezvous_.rank();
  const std::string text = own ? failure.reason
                               : "rank " + std::to_string(rendezvous_.rank()) + " ends since rank " +
                                     std::to_string(failure.rank) + " failed: " + failure.reason;
  last_resort_.expect_within(ending, "rank " + std::to_string(rendezvous_.rank()) + " could not abort NCCL; it ends");
  report_(text);
  rendezvous_.publish(failure);
  abort_all();
  rendezvous_.leave();
  _exit(1);
}

/// What others know already is not told them once more, since the way to them may be what has failed.
void Watchdog::open_way_out(const JobFailure& failure) noexcept {
  const int rank = rendezvous_.rank();
  last_resort_.expect_within(ending, "rank " + std::to_string(rank) + " could not abort NCCL; it ends");
  way_out_->open("rank " + std::to_string(failure.rank) + " has failed: " + failure.reason);
  try {
    abort_all();
  } catch (const std::exception& error) {
    say_unless_well(error.what());
  }
  last_resort_.rest();
  if (!rendezvous_.failure()) rendezvous_.publish(failure);
}

void Watchdog::fail(const std::string& reason) noexcept {
  failed_ = true;
  if (!rendezvous_.failure()) rendezvous_.publish({rendezvous_.rank(), reason});
  stop();
  last_resort_.expect_within(ending + 3,
                             "rank " + std::to_string(rendezvous_.rank()) + " failed and does not end by itself");
  try {
    recorder_.clear();
    abort_all();
  } catch (const std::exception&) {
    failed_ = true;  // the job ends anyway, and for the first reason
  }
}

void Watchdog::finish() noexcept {
  if (way_out_ == nullptr) stop();  // else it ends also what waits here
  if (failed_) return;
  last_resort_.expect_within(3 * finishing,
                             "rank " + std::to_string(rendezvous_.rank()) + " could not leave NCCL; it ends");
  for (const std::shared_ptr<NcclGroup>& group : groups()) say_unless_well(group->finish(finishing));
  recorder_.clear();
  stop();
  last_resort_.rest();
}

}  // namespace trigram::gpu
