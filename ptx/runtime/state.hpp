// What the double remembers, for its own sources.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "ptx/runtime/control.hpp"

namespace cuda_on_host {
class Worker;
class EventRecord;
}  // namespace cuda_on_host

struct CUstream_st {
  int priority = 0;
  std::int64_t ordinal = 0;                      ///< 1 for the first that the process made
  std::shared_ptr<cuda_on_host::Worker> worker;  ///< null where streams execute at once
};
struct CUevent_st {
  bool timed = true;
  std::int64_t ordinal = 0;                           ///< 1 for the first that the process made
  std::shared_ptr<cuda_on_host::EventRecord> record;  ///< of the last record
};
struct CUmemPoolHandle_st {
  std::uint64_t attributes[8] = {};
};

namespace cuda_on_host {

struct State {
  std::atomic<int> devices{1};
  std::atomic<cudaError_t> broken{cudaSuccess};
  std::atomic<std::int64_t> launches{0}, cublas_openings{0}, pinned{0};
  std::atomic<int> multiprocessors{2}, blocks_each{3};
  std::atomic<bool> later{false};              ///< streams that are made from now on have threads
  std::atomic<bool> host_memory_too{false};    ///< may be used as device memory
  std::atomic<bool> large_is_repeated{false};  ///< see repeat_large_memory
  std::atomic<bool> keeps_misuses_quiet{false};
  std::atomic<int> quiet{0};  ///< while above 0, no call may wait for the whole device
  std::mutex misuse_mutex;    ///< guards `misuse`
  std::string misuse;         ///< the first
  std::mutex mutex;           ///< guards what follows
  std::set<CUstream_st*> all_streams;
  std::set<CUevent_st*> all_events;
  std::int64_t streams_made = 0, events_made = 0;
  CUmemPoolHandle_st pool;
};
State& state();

/// Of this thread, as cudaSetDevice says.
int current_device();
/// cudaErrorNoDevice without devices, what the double was broken with, or cudaSuccess; kept as the last error.
cudaError_t usable();
/// Keeps an error for cudaGetLastError and returns it.
cudaError_t noted(cudaError_t error);
/// Waits for all streams, as `call` does; a misuse where that is not allowed.
cudaError_t wait_for_the_device(const char* call);

}  // namespace cuda_on_host
