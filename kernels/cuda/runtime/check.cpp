#include "kernels/cuda/runtime/check.hpp"

#include "core/values/error.hpp"

namespace trigram::cuda {

void check(cudaError_t status, const char* operation) {
  if (status == cudaSuccess) return;
  throw BackendError(std::string(operation) + ": " + cudaGetErrorString(status) + " (" + cudaGetErrorName(status) +
                     ")");
}

void check(cudaError_t status, const std::string& operation) { check(status, operation.c_str()); }

}  // namespace trigram::cuda
