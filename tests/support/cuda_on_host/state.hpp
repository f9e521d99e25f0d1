// What the double remembers, for its own sources.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>

#include "tests/support/cuda_on_host/control.hpp"

struct CUstream_st {
  int priority = 0;
};
struct CUevent_st {
  bool timed = true;
  std::chrono::steady_clock::time_point recorded{};
};
struct CUmemPoolHandle_st {
  std::uint64_t attributes[8] = {};
};

namespace cuda_on_host {

struct State {
  std::atomic<int> devices{1};
  std::atomic<cudaError_t> broken{cudaSuccess};
  std::atomic<std::int64_t> launches{0}, pinned{0}, streams{0}, events{0};
  std::mutex mutex;  ///< guards `memory` and `pool`
  std::map<void*, std::size_t> memory;
  std::int64_t device_bytes = 0;
  CUmemPoolHandle_st pool;
};
State& state();

/// cudaErrorNoDevice without devices, what the double was broken with, or cudaSuccess; kept as the last error.
cudaError_t usable();
/// Keeps an error for cudaGetLastError and returns it.
cudaError_t noted(cudaError_t error);

}  // namespace cuda_on_host
