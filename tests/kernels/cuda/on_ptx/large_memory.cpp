// KERNELS_ON_PTX_MEMORY=repeated: a device with more memory than this machine has (see ptx/runtime/control.hpp).
#include <cstdlib>
#include <string>

#include "ptx/runtime/control.hpp"

namespace {

const bool repeated = [] {
  const char* const named = std::getenv("KERNELS_ON_PTX_MEMORY");
  const bool is = named != nullptr && std::string(named) == "repeated";
  if (is) cuda_on_host::repeat_large_memory();
  return is;
}();

}  // namespace
