// Devices and errors of the double.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstring>
#include <iterator>
#include <utility>

#include "ptx/runtime/allocations.hpp"
#include "ptx/runtime/order.hpp"
#include "ptx/runtime/state.hpp"
#include "ptx/runtime/worker.hpp"

namespace {

thread_local cudaError_t last_error = cudaSuccess;
thread_local int device_of_thread = 0;

struct Text {
  cudaError_t error;
  const char* name;
  const char* words;
};
constexpr Text texts[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error"},
    {cudaErrorCudartUnloading, "cudaErrorCudartUnloading", "driver shutting down"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver",
     "CUDA driver version is insufficient for CUDA runtime version"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    {cudaErrorUnknown, "cudaErrorUnknown", "unknown error"}};

const Text& text_of(cudaError_t error) {
  for (const Text& text : texts) {
    if (text.error == error) return text;
  }
  return texts[std::size(texts) - 1];
}

bool exists(int device) { return device >= 0 && device < cuda_on_host::state().devices; }

}  // namespace

namespace cuda_on_host {

State& state() {
  static State the;
  return the;
}

cudaError_t noted(cudaError_t error) {
  if (error != cudaSuccess) last_error = error;
  return error;
}

int current_device() { return device_of_thread; }

cudaError_t usable() {
  if (state().devices == 0) return noted(cudaErrorNoDevice);
  return noted(state().broken);
}

void run_streams_later() { state().later = true; }
void take_host_memory_for_device_memory() { state().host_memory_too = true; }
void set_device_count(int count) { state().devices = count; }
int set_resident_blocks(int count) {
  const int before = state().multiprocessors * state().blocks_each;
  state().multiprocessors = count;
  state().blocks_each = 1;
  return before;
}
void break_with(cudaError_t error) { state().broken = error; }

void keep_misuses_quiet() { state().keeps_misuses_quiet = true; }
void misuse(const std::string& what) {
  const std::lock_guard lock(state().misuse_mutex);
  if (!state().misuse.empty()) return;
  state().misuse = what;
  if (!state().keeps_misuses_quiet) std::fprintf(stderr, "the double of CUDA: %s\n", what.c_str());
  break_with(cudaErrorIllegalAddress);
}
std::string take_misuse() {
  require_untouched();
  const std::lock_guard lock(state().misuse_mutex);
  if (!state().misuse.empty()) break_with(cudaSuccess);
  return std::exchange(state().misuse, {});
}

NoDeviceWideCalls::NoDeviceWideCalls() { ++state().quiet; }
NoDeviceWideCalls::~NoDeviceWideCalls() { --state().quiet; }

void note_cublas() { ++state().cublas_openings; }
std::int64_t cublas_openings() { return state().cublas_openings; }
std::int64_t launches() { return state().launches; }

cudaError_t begin_launch(const dim3& grid, const dim3& block, cudaStream_t stream) {
  if (stream == nullptr) wait_for_the_device("a kernel without a stream");
  const bool fits = grid.x > 0 && grid.y == 1 && grid.z == 1 && block.x > 0 && block.y == 1 && block.z == 1;
  if (!fits) return noted(cudaErrorInvalidConfiguration);
  ++state().launches;
  return usable();
}

}  // namespace cuda_on_host

using cuda_on_host::noted;
using cuda_on_host::state;
using cuda_on_host::usable;

const char* cudaGetErrorName(cudaError_t error) { return text_of(error).name; }
const char* cudaGetErrorString(cudaError_t error) { return text_of(error).words; }
cudaError_t cudaPeekAtLastError() { return last_error; }
cudaError_t cudaGetLastError() {
  const cudaError_t error = last_error;
  last_error = state().broken;
  return error;
}

cudaError_t cudaGetDeviceCount(int* count) {
  *count = state().devices;
  return *count == 0 ? noted(cudaErrorNoDevice) : cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = device_of_thread;
  return usable();
}
cudaError_t cudaSetDevice(int device) {
  if (!exists(device)) return noted(state().devices == 0 ? cudaErrorNoDevice : cudaErrorInvalidDevice);
  device_of_thread = device;
  return usable();
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (!exists(device)) return noted(cudaErrorInvalidDevice);
  *properties = {};
  std::snprintf(properties->name, sizeof properties->name, "host double %d", device);
  std::memset(properties->uuid.bytes, device, sizeof properties->uuid.bytes);
  properties->totalGlobalMem = std::size_t{cuda_on_host::state().large_is_repeated ? 64U : 2U} << 30U;
  properties->major = 9;
  properties->multiProcessorCount = state().multiprocessors;
  properties->l2CacheSize = 1 << 20;
  properties->maxThreadsPerBlock = 1024;
  properties->warpSize = 32;
  properties->pciBusID = device + 1;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  cudaDeviceProp properties;
  if (const cudaError_t status = cudaGetDeviceProperties(&properties, device); status != cudaSuccess) return status;
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
      *value = properties.maxThreadsPerBlock;
      break;
    case cudaDevAttrMultiProcessorCount:
      *value = properties.multiProcessorCount;
      break;
    case cudaDevAttrL2CacheSize:
      *value = properties.l2CacheSize;
      break;
    case cudaDevAttrComputeCapabilityMajor:
      *value = properties.major;
      break;
    case cudaDevAttrComputeCapabilityMinor:
      *value = properties.minor;
      break;
    case cudaDevAttrMemoryPoolsSupported:
      *value = 1;
      break;
    default:
      return noted(cudaErrorInvalidValue);
  }
  return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  if (!exists(device)) return noted(cudaErrorInvalidDevice);
  std::snprintf(text, static_cast<std::size_t>(length), "0000:%02X:00.0", static_cast<unsigned>(device + 1));
  return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel, int threads,
                                                          std::size_t /*shared_bytes*/) {
  if (kernel == nullptr || threads <= 0) return noted(cudaErrorInvalidValue);
  *blocks = state().blocks_each;
  return usable();
}
cudaError_t cudaDeviceSynchronize() { return cuda_on_host::wait_for_the_device("cudaDeviceSynchronize"); }
cudaError_t cudaDeviceReset() { return usable(); }
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return usable();
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = state().devices == 0 ? 0 : 13000;
  return cudaSuccess;
}
