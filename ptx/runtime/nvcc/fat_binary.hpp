// Where nvcc puts PTX into an object.
#pragma once

#include <string>

namespace cuda_on_host {

/// Returns the PTX of what nvcc hands to `__cudaRegisterFatBinary`. Throws UsageError where there is none, or where it
/// is compressed.
std::string ptx_of(const void* fat_binary);

}  // namespace cuda_on_host
