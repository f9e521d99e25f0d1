// Kernel launches in one form that nvcc and a compiler for the host both take.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <tuple>

#include "kernels/cuda/kernels.hpp"
#include "kernels/cuda/runtime/check.hpp"

namespace trigram::cuda {

inline constexpr unsigned block_threads = 256;
inline constexpr unsigned all_lanes = 0xffffffffU;
inline constexpr int warp_lanes = 32;

inline CudaKernels& cuda_of(Kernels& kernels) { return dynamic_cast<CudaKernels&>(kernels); }

/// So many units, of which a block of threads does `a_block` at a time.
struct Work {
  std::int64_t units, a_block;
};

/// Blocks of `threads` threads for `work`: as many as the device holds at once, which go round until all is done, and
/// at least one.
template <class... Parameters>
std::int64_t blocks_for(const CudaKernels& kernels, void (*kernel)(Parameters...), unsigned threads, const Work& work) {
  const std::int64_t most = kernels.resident_blocks(reinterpret_cast<const void*>(kernel), threads);
  return std::clamp<std::int64_t>((work.units + work.a_block - 1) / work.a_block, 1, most);
}

/// Enqueues `blocks` blocks of `threads` threads. Throws BackendError that names `operation`.
template <class... Parameters, class... Arguments>
void launch(const char* operation, const CudaKernels& kernels, void (*kernel)(Parameters...), std::int64_t blocks,
            unsigned threads, const Arguments&... arguments) {
  std::tuple<Parameters...> values(static_cast<Parameters>(arguments)...);
  std::apply(
      [&](auto&... value) {
        void* addresses[] = {static_cast<void*>(&value)...};
        check(cudaLaunchKernel(kernel, dim3(static_cast<unsigned>(blocks)), dim3(threads), addresses, 0,
                               kernels.stream()),
              operation);
      },
      values);
}
/// The same with blocks for `work`.
template <class... Parameters, class... Arguments>
void launch(const char* operation, const CudaKernels& kernels, void (*kernel)(Parameters...), const Work& work,
            unsigned threads, const Arguments&... arguments) {
  launch(operation, kernels, kernel, blocks_for(kernels, kernel, threads, work), threads, arguments...);
}

inline bool is_aligned(const void* address, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(address) % bytes == 0;
}

}  // namespace trigram::cuda
