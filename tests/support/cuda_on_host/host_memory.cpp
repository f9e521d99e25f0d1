// CUDA_ON_HOST_MEMORY, which says whether the host's own memory is device memory too (see cuda_runtime.h).
#include <cstdlib>
#include <string>

#include "ptx/runtime/control.hpp"

namespace {

const bool taken = [] {
  const char* const named = std::getenv("CUDA_ON_HOST_MEMORY");
  const bool any = named != nullptr && std::string(named) == "any";
  if (any) cuda_on_host::take_host_memory_for_device_memory();
  return any;
}();

}  // namespace
