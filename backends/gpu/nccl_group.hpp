// A communicator of NCCL, owned, whose every call has a deadline.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backends/gpu/host/way_out.hpp"
#include "backends/gpu/nccl_library.hpp"

namespace trigram::gpu {

/// Where NCCL writes a communicator: by a thread of its own, as late as the last peer comes, and also when the call has
/// failed. So the memory is left to NCCL for good unless its last word was heard.
class CommSlot {
 public:
  CommSlot() : place_(std::make_unique<ncclComm_t>(nullptr)) {}
  ~CommSlot() {
    if (!written_) static_cast<void>(place_.release());
  }
  CommSlot(CommSlot&&) noexcept = default;
  CommSlot(const CommSlot&) = delete;
  CommSlot& operator=(const CommSlot&) = delete;

  ncclComm_t* place() const { return place_.get(); }
  /// Null while NCCL has not written it.
  ncclComm_t comm() const { return std::atomic_ref(*place_).load(); }
  void was_written() { written_ = true; }

 private:
  std::unique_ptr<ncclComm_t> place_;
  bool written_ = false;
};

/// How long the host is inside NCCL: until the call is done, or hardly, and it asks until the call is done.
enum class Calls : bool { ask, block };

/// A call that NCCL has not finished is asked after until it has, or `timeout` has passed. Where calls block, deadlines
/// are the watchdog's. Calls of one group exclude each other, so that the watchdog can look at it and abort it from its
/// own thread.
class NcclGroup {
 public:
  /// A new group; all its ranks call. `name` is for error messages: "lane 1, all ranks". Calls that are asked after end
  /// too once `way_out` is open. Throws BackendError.
  NcclGroup(std::string name, const ncclUniqueId& id, int ranks, int rank, double timeout, Calls calls = Calls::ask,
            std::shared_ptr<const WayOut> way_out = nullptr);
  /// `finish`, or `abandon` while an error unwinds.
  ~NcclGroup();
  NcclGroup(const NcclGroup&) = delete;
  NcclGroup& operator=(const NcclGroup&) = delete;

  /// The group of the ranks that give the same color, in the order of (key, rank); collective. It shares the channels
  /// of this one, so both must be used on one stream, and aborting one aborts both.
  std::unique_ptr<NcclGroup> split(std::string name, int color, int key);

  int rank() const { return rank_; }
  int size() const { return size_; }
  const std::string& name() const { return name_; }
  Calls calls() const { return calls_; }
  void use_timeout(double seconds) { timeout_ = seconds; }

  /// One call of NCCL on this group, finished for the host when it returns: what it orders is on its stream then.
  /// Throws BackendError with NCCL's own words, and for a group that was aborted.
  void call(const char* what, const std::function<ncclResult_t(ncclComm_t)>& function);

  /// What went wrong behind the host's back, in words; empty while all is well, or while another call is running.
  std::string asynchronous_error();
  /// Ends whatever is running on the group; it cannot be used again. What went wrong at that, in words, or nothing.
  std::string abandon();
  /// The good end: waits until all is done, `seconds` at most also where calls block, and aborts otherwise. What went
  /// wrong, in words.
  std::string finish(double seconds);

 private:
  NcclGroup(std::string name, CommSlot slot, const NcclGroup& parent);
  void begin(ncclResult_t result, const char* what);
  bool is_over(std::chrono::steady_clock::time_point begun, double seconds) const;
  ncclResult_t state();
  ncclResult_t settled(ncclResult_t result, double seconds);
  ncclResult_t finalized(double seconds, std::future<ncclResult_t>& blocked);
  void abort_late_parts();
  std::string words(ncclResult_t result, const char* what);
  void require_success(ncclResult_t result, const char* what);

  std::string name_;
  std::timed_mutex mutex_;
  CommSlot slot_;
  ncclComm_t comm_ = nullptr;         ///< null once aborted or destroyed
  std::vector<CommSlot> late_parts_;  ///< that nobody waits for any more
  double timeout_;
  Calls calls_;
  std::shared_ptr<const WayOut> way_out_;
  int rank_ = 0;
  int size_ = 1;
};

/// The first call that fails inside a group of calls is the one to report; the group is closed in any case.
class GroupOfCalls {
 public:
  GroupOfCalls() : first_(nccl().group_start()) {}
  void add(ncclResult_t result) {
    const bool well = first_ == ncclSuccess || first_ == ncclInProgress;
    if (well && result != ncclSuccess && result != ncclInProgress) first_ = result;
  }
  ncclResult_t close() {
    const ncclResult_t closed = nccl().group_end();
    return first_ == ncclSuccess || first_ == ncclInProgress ? closed : first_;
  }

 private:
  ncclResult_t first_;
};

/// For all ranks of one group, made by one of them.
ncclUniqueId make_unique_id();

}  // namespace trigram::gpu
