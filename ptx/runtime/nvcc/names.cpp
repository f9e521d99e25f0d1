// The names of CUDA's runtime that objects of nvcc call, beside those of its API.
#include <vector_types.h>

#include <utility>
#include <vector>

#include "ptx/runtime/nvcc/kernels.hpp"
#include "ptx/runtime/nvcc/launch.hpp"

namespace {

/// What `<<<...>>>` says, until the function that stands for the kernel asks for it.
struct Configuration {
  dim3 grid, block;
  std::size_t shared_bytes;
  cudaStream_t stream;
};
thread_local std::vector<Configuration> configurations;

}  // namespace

extern "C" {

void** __cudaRegisterFatBinary(void* fat_binary) {
  return reinterpret_cast<void**>(cuda_on_host::add_object(fat_binary));
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterFunction(void** object, const char* function, char*, const char* name, int, uint3*, uint3*, dim3*,
                            dim3*, int*) {
  cuda_on_host::add_kernel(reinterpret_cast<cuda_on_host::Object*>(object), function, name);
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared_bytes, cudaStream_t stream) {
  configurations.push_back({grid, block, shared_bytes, stream});
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared_bytes, void* stream) {
  if (configurations.empty()) return cudaErrorInvalidConfiguration;
  const Configuration last = configurations.back();
  configurations.pop_back();
  *grid = last.grid;
  *block = last.block;
  *shared_bytes = last.shared_bytes;
  *static_cast<cudaStream_t*>(stream) = last.stream;
  return cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  *kernel = static_cast<cudaKernel_t>(const_cast<void*>(function));
  return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared_bytes,
                               cudaStream_t stream) {
  return cuda_on_host::launch(kernel, grid, block, arguments, shared_bytes, stream);
}
cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments, std::size_t shared_bytes,
                             cudaStream_t stream) {
  return cuda_on_host::launch(function, grid, block, arguments, shared_bytes, stream);
}

}  // extern "C"
