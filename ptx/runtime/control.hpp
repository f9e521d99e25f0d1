// What a test sets and sees of the double (see cuda_runtime.h).
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cuda_on_host {

/// How many devices this process has, 1 at first; with 0, CUDA's calls answer cudaErrorNoDevice.
void set_device_count(int count);

/// How many blocks of a kernel the device holds at once, whatever they are made of; 6 at first, of two multiprocessors.
/// Who has asked already need not ask again. Returns how many it held before.
int set_resident_blocks(int count);

/// Streams that are made from now on have a thread each and run what they are given later, at odd moments.
void run_streams_later();

/// From now on the host's own memory is device memory too, for those who have no other.
void take_host_memory_for_device_memory();

/// From now on the device has 64 GiB, of which pieces from 1 GiB on hold something of their own at their ends alone:
/// between them one piece of 64 MiB lies again and again.
void repeat_large_memory();

/// From now on every call that touches a device answers `error`, as after a fault on a GPU; cudaSuccess ends it.
void break_with(cudaError_t error);

/// What was done wrong first, in words, and forgets it; empty: nothing was. A GPU would have gone on with wrong bytes,
/// waited, or hung; the double says it on the error stream and breaks.
std::string take_misuse();
/// From now on misuses and findings are not said on the error stream: who runs kernels takes and says them.
void keep_misuses_quiet();
/// Notes a misuse.
void misuse(const std::string& what);

/// While one lives, no call may wait for the whole device: on a GPU that would wait for kernels that wait for peers.
class NoDeviceWideCalls {
 public:
  NoDeviceWideCalls();
  ~NoDeviceWideCalls();
  NoDeviceWideCalls(const NoDeviceWideCalls&) = delete;
  NoDeviceWideCalls& operator=(const NoDeviceWideCalls&) = delete;
};

/// Notes a misuse unless all of these bytes lie in one piece of device memory that has not been freed; `what` is for
/// the words. To be called when they are used, not when that is ordered.
void require_live(const void* address, std::size_t bytes, const char* what);

/// What was allocated and not freed: device memory in bytes, and pinned memory, streams and events by number.
struct Live {
  std::int64_t device_bytes = 0;
  std::int64_t pinned = 0, streams = 0, events = 0;
};
Live live();

/// What is live now, device memory, pinned memory, streams and events: a sentence each, which says of what size it is
/// and which of its kind the process made. At a test's end nothing should be.
std::vector<std::string> leaks();

/// cuBLAS was looked for; how often so far.
void note_cublas();
std::int64_t cublas_openings();

/// Kernels launched so far by all threads.
std::int64_t launches();

}  // namespace cuda_on_host
