// What a kernel's launch asks of devices and streams (see cuda_runtime.h).
#pragma once

#include <cuda_runtime_api.h>

#include <functional>

namespace cuda_on_host {

/// cudaSuccess when `stream` can take work of that form; counts the launch.
cudaError_t begin_launch(const dim3& grid, const dim3& block, cudaStream_t stream);

/// Runs `work` on the stream: now, or later (see control.hpp).
void order(cudaStream_t stream, std::function<void()> work);

/// Notes a misuse when this address lies in memory that was freed.
void require_not_freed(const void* address, const char* what);

}  // namespace cuda_on_host
