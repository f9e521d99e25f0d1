// A communicator of NCCL, owned, whose every call has a deadline.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "backends/gpu/nccl_library.hpp"

namespace trigram::gpu {

/// Non-blocking: a call that NCCL has not finished is asked after until it has, or `timeout` has passed. Calls of one
/// group exclude each other, so that the watchdog can look at it and abort it from its own thread.
class NcclGroup {
 public:
  /// A new group; all its ranks call. `name` is for messages: "lane 1, all ranks". Throws BackendError.
  NcclGroup(std::string name, const ncclUniqueId& id, int ranks, int rank, double timeout);
  /// `finish`, or `abandon` while an error unwinds.
  ~NcclGroup();
  NcclGroup(const NcclGroup&) = delete;
  NcclGroup& operator=(const NcclGroup&) = delete;

  /// The group of the ranks that give the same color, in the order of (key, rank); collective.
  std::unique_ptr<NcclGroup> split(std::string name, int color, int key);

  int rank() const { return rank_; }
  int size() const { return size_; }
  const std::string& name() const { return name_; }
  void use_timeout(double seconds) { timeout_ = seconds; }

  /// One call of NCCL on this group, finished for the host when it returns: what it orders is on its stream then.
  /// Throws BackendError with NCCL's own words, and for a group that was aborted.
  void call(const char* what, const std::function<ncclResult_t(ncclComm_t)>& function);

  /// What went wrong behind the host's back, in words; empty while all is well, or while another call is running.
  std::string asynchronous_error();
  /// Ends whatever is running on the group; it cannot be used again. False when another call does not come to an end.
  bool abandon();
  /// The good end: waits until all is done, `seconds` at most, and aborts otherwise.
  void finish(double seconds) noexcept;

 private:
  NcclGroup(std::string name, ncclComm_t comm, double timeout);
  ncclResult_t state();
  ncclResult_t settled(ncclResult_t result, double seconds);
  void require_success(ncclResult_t result, const char* what);
  void learn_ranks();

  std::string name_;
  std::timed_mutex mutex_;
  ncclComm_t comm_ = nullptr;  ///< null once aborted or destroyed
  double timeout_;
  int rank_ = 0;
  int size_ = 1;
};

/// For all ranks of one group, made by one of them.
ncclUniqueId make_unique_id();

}  // namespace trigram::gpu
