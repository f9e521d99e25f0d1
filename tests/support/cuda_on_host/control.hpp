// What a test sets and sees of the double (see cuda_runtime.h).
#pragma once

#include <cstdint>

#include "tests/support/cuda_on_host/runtime_api.hpp"

namespace cuda_on_host {

/// How many devices this process has, 1 at first; with 0, CUDA's calls answer cudaErrorNoDevice.
void set_device_count(int count);

/// Streams that are made from now on have a thread each and run what they are given later, at odd moments.
void run_streams_later();

/// From now on every call that touches a device answers `error`, as after a fault on a GPU; cudaSuccess ends it.
void break_with(cudaError_t error);

/// What was allocated and not freed: device memory in bytes, and pinned memory, streams and events by number.
struct Live {
  std::int64_t device_bytes = 0;
  std::int64_t pinned = 0, streams = 0, events = 0;
};
Live live();

/// cuBLAS was looked for; how often so far.
void note_cublas();
std::int64_t cublas_openings();

/// Kernels launched so far by all threads.
std::int64_t launches();

}  // namespace cuda_on_host
