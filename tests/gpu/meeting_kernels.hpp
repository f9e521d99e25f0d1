// A kernel that waits for another one, or for the host: who does not run meanwhile is seen.
#pragma once

#include <cuda_runtime.h>

namespace trigram::testing {

/// One meeting. Made and ended where the whole device may be waited for.
class MeetingKernels {
 public:
  MeetingKernels();
  ~MeetingKernels();
  MeetingKernels(const MeetingKernels&) = delete;
  MeetingKernels& operator=(const MeetingKernels&) = delete;

  /// A kernel that runs until the flag is raised, some seconds at most.
  void order_wait(cudaStream_t stream);
  /// One that raises it.
  void order_raise(cudaStream_t stream);
  /// Raises it from the host.
  void raise_now();
  /// Whether the one that waits saw the flag in time. Once it has ended.
  bool met() const;

 private:
  int* memory_ = nullptr;  ///< pinned: the flag, and what the one that waits saw
};

}  // namespace trigram::testing
