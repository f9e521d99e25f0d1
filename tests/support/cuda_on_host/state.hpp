// What the double remembers, for its own sources.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "tests/support/cuda_on_host/control.hpp"

namespace cuda_on_host {
class Worker;
class Moment;
}  // namespace cuda_on_host

struct CUstream_st {
  int priority = 0;
  std::shared_ptr<cuda_on_host::Worker> worker;  ///< null where streams execute at once
};
struct CUevent_st {
  bool timed = true;
  std::shared_ptr<cuda_on_host::Moment> moment;  ///< of the last record
};
struct CUmemPoolHandle_st {
  std::uint64_t attributes[8] = {};
};

namespace cuda_on_host {

struct State {
  std::atomic<int> devices{1};
  std::atomic<cudaError_t> broken{cudaSuccess};
  std::atomic<std::int64_t> launches{0}, cublas_openings{0}, pinned{0}, streams{0}, events{0};
  std::atomic<bool> later{false};  ///< streams that are made from now on have threads
  std::mutex mutex;                ///< guards what follows
  std::map<void*, std::size_t> memory, pinned_memory;
  std::set<CUstream_st*> all_streams;
  std::int64_t device_bytes = 0;
  CUmemPoolHandle_st pool;
};
State& state();

/// cudaErrorNoDevice without devices, what the double was broken with, or cudaSuccess; kept as the last error.
cudaError_t usable();
/// Keeps an error for cudaGetLastError and returns it.
cudaError_t noted(cudaError_t error);

}  // namespace cuda_on_host
