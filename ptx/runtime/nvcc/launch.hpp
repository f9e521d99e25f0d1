// Launches a kernel on a stream.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace cuda_on_host {

/// As cudaLaunchKernel. What the kernel does wrong is a misuse (control.hpp).
cudaError_t launch(const void* function, dim3 grid, dim3 block, void** arguments, std::size_t shared_bytes,
                   cudaStream_t stream);

}  // namespace cuda_on_host
