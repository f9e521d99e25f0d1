// Streams and events of the double: all is done when a call returns.
#include "tests/support/cuda_on_host/cuda_runtime.h"
#include "tests/support/cuda_on_host/state.hpp"

using cuda_on_host::noted;
using cuda_on_host::state;
using cuda_on_host::usable;
using std::chrono::steady_clock;

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int priority) {
  if (const cudaError_t status = usable(); status != cudaSuccess) return status;
  *stream = new CUstream_st{priority};
  ++state().streams;
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
  delete stream;
  --state().streams;
  return usable();
}
cudaError_t cudaStreamSynchronize(cudaStream_t) { return usable(); }
cudaError_t cudaStreamQuery(cudaStream_t) { return usable(); }
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t event, unsigned) {
  return event == nullptr ? noted(cudaErrorInvalidResourceHandle) : usable();
}
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function, void* data, unsigned) {
  const cudaError_t status = usable();
  function(stream, status, data);
  return status;
}
cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t function, void* data) {
  if (const cudaError_t status = usable(); status != cudaSuccess) return status;
  function(data);
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  if (const cudaError_t status = usable(); status != cudaSuccess) return status;
  *event = new CUevent_st{(flags & cudaEventDisableTiming) == 0};
  ++state().events;
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  if (event == nullptr) return noted(cudaErrorInvalidResourceHandle);
  delete event;
  --state().events;
  return usable();
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  if (event == nullptr) return noted(cudaErrorInvalidResourceHandle);
  event->recorded = steady_clock::now();
  return usable();
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  return event == nullptr ? noted(cudaErrorInvalidResourceHandle) : usable();
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) { return cudaEventQuery(event); }
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  const bool timed = begin != nullptr && end != nullptr && begin->timed && end->timed &&
                     begin->recorded != steady_clock::time_point{} && end->recorded != steady_clock::time_point{};
  if (!timed) return noted(cudaErrorInvalidResourceHandle);
  *milliseconds = std::chrono::duration<float, std::milli>(end->recorded - begin->recorded).count();
  return usable();
}
