// A group of the double (see nccl.h).
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "tests/support/nccl_on_host/mesh.hpp"
#include "tests/support/nccl_on_host/nccl.h"

namespace nccl_on_host {

/// Whether this thread is between no ncclGroupStart and its end. Calls other than messages must be there: NCCL begins
/// them at the end of the group, and their callers would take them for done.
bool outside_of_groups();

}  // namespace nccl_on_host

/// What the host asks for is done by a thread of the group's own: until then its state is ncclInProgress, and it takes
/// no other call.
struct ncclComm {
 public:
  using Work = std::function<void(nccl_on_host::Mesh&)>;

  ncclComm(int rank, int ranks, const ncclConfig_t& config);
  ~ncclComm();

  /// Those of this process that were made, and neither destroyed nor aborted.
  static std::atomic<int> alive;

  /// Meets the others of the group `name`; `slot` is written at the end, by the group's thread.
  ncclResult_t connect(const std::string& name, ncclComm_t* slot);
  /// Makes the part whose members give `color`; `slot` is written at the end, by the group's thread.
  ncclResult_t split(int color, int key, ncclComm_t* slot, const ncclConfig_t& of_part);
  /// Puts `work` on streams, as ncclGroupEnd does.
  ncclResult_t order(std::vector<std::pair<cudaStream_t, Work>> works);
  /// Waits for what is on streams.
  ncclResult_t finalize();

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  bool blocking() const { return blocking_; }
  /// Whether its parts take nothing of their own: NCCL asks the parent, not the configuration of the part.
  bool shares_with_parts() const { return shares_with_parts_; }
  /// As ncclCommGetAsyncError has it: what has ended is still in progress for those who ask the first times.
  ncclResult_t asked();
  /// What a call answers where the group is not ready for it.
  ncclResult_t ready() const;
  /// Of the first failure, which stays as it is.
  const char* last_error();
  /// Everybody's bytes, in rank order, to be called from inside `work` or while the stream is idle.
  std::vector<std::vector<std::byte>> all_gather(nccl_on_host::Mesh& mesh, const void* own, std::size_t bytes) const;
  void abort();

 private:
  ncclResult_t begin(std::function<void()> job);
  void run();
  void run_one(const std::function<void()>& job);
  void meet(const std::string& name, const std::string& gpu);
  void make_part(int color, int key, int number, ncclComm& part);
  void put(cudaStream_t stream, Work work);
  void fail(ncclResult_t result, const std::string& why);

  std::string name_;
  std::string gpu_;  ///< of the thread that made the group
  int rank_ = 0;
  int ranks_ = 1;
  bool blocking_ = false, shares_with_parts_ = false;
  int splits_ = 0;
  bool finalized_ = false;
  std::atomic<bool> aborted_{false};
  std::atomic<int> on_streams_{0};
  std::atomic<ncclResult_t> state_{ncclSuccess};
  std::atomic<int> unasked_{0};  ///< how often a caller that does not block has to ask yet
  std::mutex error_mutex_;       ///< guards what follows: streams and the group's thread may both fail
  std::string last_error_;       ///< written before the state that it explains
  std::unique_ptr<nccl_on_host::Mesh> mesh_;
  std::mutex mutex_;  ///< guards what follows
  std::condition_variable changed_;
  std::function<void()> job_;
  ncclComm* unborn_ = nullptr;  ///< the part that is being made
  bool closed_ = false;
  std::thread thread_;
};
