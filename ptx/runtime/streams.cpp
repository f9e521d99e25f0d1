// Streams and events of the double (see cuda_runtime.h).
#include <cuda_runtime_api.h>

#include <vector>

#include "ptx/runtime/order.hpp"
#include "ptx/runtime/state.hpp"
#include "ptx/runtime/stream_order.hpp"
#include "ptx/runtime/worker.hpp"

using cuda_on_host::noted;
using cuda_on_host::state;
using cuda_on_host::usable;

namespace cuda_on_host {

bool runs_later(cudaStream_t stream) { return stream != nullptr && stream->worker != nullptr; }

void order(cudaStream_t stream, std::function<void()> work) {
  work = followed(stream, std::move(work));
  if (runs_later(stream)) {
    stream->worker->order(std::move(work));
  } else {
    work();
  }
}

cudaError_t wait_for_the_device(const char* call) {
  if (state().quiet > 0) misuse(std::string(call) + " waits for the whole device, where nothing may");
  std::vector<std::shared_ptr<Worker>> workers;
  {
    const std::lock_guard lock(state().mutex);
    for (CUstream_st* stream : state().all_streams) {
      if (stream->worker != nullptr) workers.push_back(stream->worker);
    }
  }
  for (const auto& worker : workers) worker->drain();
  note_host_wait_for_all();
  return usable();
}

}  // namespace cuda_on_host

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int priority) {
  if (const cudaError_t status = usable(); status != cudaSuccess) return status;
  const std::lock_guard lock(state().mutex);
  *stream = new CUstream_st{priority, ++state().streams_made,
                            state().later ? std::make_shared<cuda_on_host::Worker>() : nullptr};
  state().all_streams.insert(*stream);
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) { return cudaStreamCreateWithFlags(stream, cudaStreamDefault); }
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  *priority = stream == nullptr ? 0 : stream->priority;
  return usable();
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  if (stream == nullptr) return noted(cudaErrorInvalidResourceHandle);
  {
    const std::lock_guard lock(state().mutex);
    state().all_streams.erase(stream);
  }
  cuda_on_host::note_end_of(stream);
  delete stream;
  return usable();
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (cuda_on_host::runs_later(stream)) stream->worker->drain();
  cuda_on_host::note_host_wait_for(stream);
  return usable();
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  if (cuda_on_host::runs_later(stream) && !stream->worker->idle()) return cudaErrorNotReady;
  cuda_on_host::note_host_wait_for(stream);
  return usable();
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  if (event == nullptr) return noted(cudaErrorInvalidResourceHandle);
  if (const auto record = event->record) {
    cuda_on_host::note_wait(stream, record->clock);
    cuda_on_host::order(stream, [record] { record->wait(); });
  }
  return usable();
}
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function, void* data, unsigned) {
  const cudaError_t status = usable();
  cuda_on_host::order(stream, [=] { function(stream, status, data); });
  return status;
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  if (const cudaError_t status = usable(); status != cudaSuccess) return status;
  cuda_on_host::order(stream, [=] { function(data); });
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  if (const cudaError_t status = usable(); status != cudaSuccess) return status;
  const std::lock_guard lock(state().mutex);
  *event = new CUevent_st{(flags & cudaEventDisableTiming) == 0, ++state().events_made, nullptr};
  state().all_events.insert(*event);
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  if (event == nullptr) return noted(cudaErrorInvalidResourceHandle);
  {
    const std::lock_guard lock(state().mutex);
    state().all_events.erase(event);
  }
  delete event;
  return usable();
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (event == nullptr) return noted(cudaErrorInvalidResourceHandle);
  if (const cudaError_t status = usable(); status != cudaSuccess) return status;
  const auto record = std::make_shared<cuda_on_host::EventRecord>(cuda_on_host::clock_of(stream));
  event->record = record;
  cuda_on_host::order(stream, [record] { record->pass(); });
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  if (event == nullptr) return noted(cudaErrorInvalidResourceHandle);
  if (const cudaError_t status = usable(); status != cudaSuccess) return status;
  if (event->record == nullptr) return cudaSuccess;
  if (!event->record->passed()) return cudaErrorNotReady;
  cuda_on_host::note_host_wait(event->record->clock);
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  if (event == nullptr) return noted(cudaErrorInvalidResourceHandle);
  if (event->record == nullptr) return usable();
  event->record->wait();
  cuda_on_host::note_host_wait(event->record->clock);
  return usable();
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  const bool timed = begin != nullptr && end != nullptr && begin->timed && end->timed && begin->record != nullptr &&
                     end->record != nullptr;
  if (!timed) return noted(cudaErrorInvalidResourceHandle);
  if (!begin->record->passed() || !end->record->passed()) return cudaErrorNotReady;
  *milliseconds = std::chrono::duration<float, std::milli>(end->record->time() - begin->record->time()).count();
  return usable();
}
