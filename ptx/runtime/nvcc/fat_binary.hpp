// Where nvcc puts PTX into an object.
#pragma once

#include <string>

namespace cuda_on_host {

/// Returns the PTX for a compute capability, as 75, of what nvcc hands to `__cudaRegisterFatBinary`, the first that is
/// there for 0. Throws UsageError where there is none, or where it is compressed.
std::string ptx_of(const void* fat_binary, int capability);

}  // namespace cuda_on_host
