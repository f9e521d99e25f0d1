// A group of the double (see nccl.h).
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "tests/support/nccl_on_host/mesh.hpp"
#include "tests/support/nccl_on_host/nccl.h"

/// Connections are made by a thread of its own: until then its state is ncclInProgress.
struct ncclComm {
 public:
  ncclComm(std::string name, int rank, int ranks);
  /// The part of `parent` whose members give `color`.
  ncclComm(ncclComm& parent, int color, int key);
  ~ncclComm();

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  ncclResult_t state() const { return state_; }
  const char* last_error() const { return last_error_.c_str(); }
  /// Runs `work` on the stream, after what was ordered there before. What it throws becomes the state.
  void order(cudaStream_t stream, std::function<void(nccl_on_host::Mesh&)> work);
  /// Everybody's bytes, in rank order, to be called from inside `work` or while the stream is idle.
  std::vector<std::vector<std::byte>> all_gather(nccl_on_host::Mesh& mesh, const void* own, std::size_t bytes) const;
  void abort() { aborted_ = true; }

 private:
  void fail(ncclResult_t result, const std::string& why);

  std::string name_;
  int rank_ = 0;
  int ranks_ = 1;
  int splits_ = 0;
  std::atomic<bool> aborted_{false};
  std::atomic<ncclResult_t> state_{ncclInProgress};
  std::string last_error_;  ///< written before the state that it explains
  std::unique_ptr<nccl_on_host::Mesh> mesh_;
  std::thread connecting_;
};
