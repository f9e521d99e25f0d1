// CUDA's error codes as exceptions.
#pragma once

#include <cuda_runtime.h>

#include <string>

namespace trigram::cuda {

/// Throws BackendError with the operation and CUDA's name and text of the error unless `status` says success.
void check(cudaError_t status, const std::string& operation);
/// The same for a literal, which costs nothing while all is well.
void check(cudaError_t status, const char* operation);

}  // namespace trigram::cuda
