// A kernel that waits for a flag, and one that raises it.
#include "kernels/cuda/runtime/check.hpp"
#include "tests/gpu/meeting_kernels.hpp"

namespace trigram::testing {
namespace {

constexpr unsigned warp = 32;

/// Threads other than the first have nothing to do.
__global__ void wait_for(volatile int* flag, volatile int* seen, long long cycles) {
  if (threadIdx.x != 0) return;
  const long long begun = clock64();
  while (*flag == 0 && clock64() - begun < cycles) continue;
  *seen = *flag;
  __threadfence_system();
}

__global__ void raise(volatile int* flag) {
  if (threadIdx.x == 0) *flag = 1;
  __threadfence_system();
}

}  // namespace

MeetingKernels::MeetingKernels() {
  cuda::check(cudaMallocHost(&memory_, 2 * sizeof(int)), "cudaMallocHost");
  memory_[0] = memory_[1] = 0;
}

MeetingKernels::~MeetingKernels() { static_cast<void>(cudaFreeHost(memory_)); }

void MeetingKernels::order_wait(cudaStream_t stream) {
  constexpr long long two_seconds_or_so = 4'000'000'000;
  volatile int* flag = memory_;
  volatile int* seen = memory_ + 1;
  long long cycles = two_seconds_or_so;
  void* arguments[] = {&flag, &seen, &cycles};
  cuda::check(cudaLaunchKernel(wait_for, dim3(1), dim3(warp), arguments, 0, stream), "wait_for");
}

void MeetingKernels::order_raise(cudaStream_t stream) {
  volatile int* flag = memory_;
  void* arguments[] = {&flag};
  cuda::check(cudaLaunchKernel(raise, dim3(1), dim3(warp), arguments, 0, stream), "raise");
}

void MeetingKernels::raise_now() { *static_cast<volatile int*>(memory_) = 1; }
bool MeetingKernels::met() const { return *static_cast<volatile const int*>(memory_ + 1) == 1; }

}  // namespace trigram::testing
