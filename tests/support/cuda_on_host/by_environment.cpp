// What the environment says of the double (see cuda_runtime.h): CUDA_ON_HOST_MEMORY=any, that the host's own memory is
// device memory too; CUDA_ON_HOST_DEVICES, how many devices there are, as for processes that each have one of a host's.
#include <cstdlib>
#include <string>

#include "ptx/runtime/control.hpp"

namespace {

std::string said(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

const bool heard = [] {
  if (said("CUDA_ON_HOST_MEMORY") == "any") cuda_on_host::take_host_memory_for_device_memory();
  if (const std::string devices = said("CUDA_ON_HOST_DEVICES"); !devices.empty())
    cuda_on_host::set_device_count(std::stoi(devices));
  return true;
}();

}  // namespace
