// Kernel launches in one form that nvcc and a compiler for the host both take.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <tuple>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/kernels.hpp"

namespace trigram::cuda {

inline constexpr unsigned block_threads = 256;
inline constexpr unsigned all_lanes = 0xffffffffU;
inline constexpr int warp_lanes = 32;

inline CudaKernels& cuda_of(Kernels& kernels) { return dynamic_cast<CudaKernels&>(kernels); }

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

/// Blocks of `block_threads` threads that a multiprocessor holds.
inline constexpr std::int64_t resident_blocks = 8;

/// Blocks for `work` units of which a block does `a_block` at a time: as many as keep all multiprocessors full, which
/// go round until all is done, and at least one.
inline std::int64_t blocks_for(const CudaKernels& kernels, std::int64_t work, std::int64_t a_block) {
  const std::int64_t most = resident_blocks * kernels.multiprocessors();
  return std::clamp<std::int64_t>((work + a_block - 1) / a_block, 1, most);
}

inline bool is_aligned(const void* address, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(address) % bytes == 0;
}

}  // namespace trigram::cuda
