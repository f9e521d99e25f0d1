// NCCL's own network of sockets as a plugin, so that the harness and the measurements run on the real one: what its
// two sources ask of the rest of NCCL, and the table under the name that plugins have. Compiled by build, with NCCL's
// headers.
#include <cuda_runtime_api.h>
#include <debug.h>
#include <nccl_net.h>
#include <param.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <thread>

extern ncclNet_t ncclNetSocket;

int ncclDebugLevel = NCCL_LOG_WARN;
uint64_t ncclDebugMask = 0;
thread_local int ncclDebugNoWarn = 0;

namespace {

ncclDebugLogger_t logger_of_caller = nullptr;

ncclResult_t init(void** context, uint64_t id, ncclNetCommConfig_t* config, ncclDebugLogger_t logger,
                  ncclProfilerCallback_t profiler) {
  logger_of_caller = logger;
  return ncclNetSocket.init(context, id, config, logger, profiler);
}

ncclNet_v12_t with_logger() {
  ncclNet_v12_t table = ncclNetSocket;
  table.init = init;
  return table;
}

}  // namespace

void ncclDebugLogInternal(ncclDebugLogLevel level, unsigned long flags, const char* file, const char* /*function*/,
                          int line, const char* format, ...) {
  char text[1024];
  va_list values;
  va_start(values, format);
  std::vsnprintf(text, sizeof text, format, values);
  va_end(values);
  if (logger_of_caller) logger_of_caller(level, flags, file ? file : "", line, "%s", text);
}

void ncclSetThreadName(std::thread& /*thread*/, const char* /*format*/, ...) {}
int64_t ncclParamSetCpuStackSize() { return 0; }
const char* ncclGetEnv(const char* name) { return std::getenv(name); }

int64_t ncclLoadParam(const char* variable, int64_t otherwise, int64_t /*unset*/, int64_t* cache, int8_t* /*fixed*/) {
  const char* text = std::getenv(variable);
  return *cache = text && *text ? std::atoll(text) : otherwise;
}

extern "C" {
/// Each connection remembers it, and there may be no GPU.
cudaError_t cudaGetDevice(int* device) { return *device = 0, cudaSuccess; }

__attribute__((visibility("default"))) extern ncclNet_v12_t ncclNetPlugin_v12;
}
ncclNet_v12_t ncclNetPlugin_v12 = with_logger();
