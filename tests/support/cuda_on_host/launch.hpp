// Kernel launches of the double: at once, block after block (see cuda_runtime.h).
#pragma once

#include <cstddef>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "ptx/runtime/order.hpp"
#include "tests/support/cuda_on_host/fibers.hpp"
#include "tests/support/cuda_on_host/language.hpp"

namespace cuda_on_host {

/// Of a kernel, when it runs. Tables of addresses are not looked into.
template <class Argument>
void check_argument(const Argument& argument) {
  if constexpr (std::is_pointer_v<Argument>)
    require_not_freed(const_cast<const void*>(static_cast<const volatile void*>(argument)), "a kernel");
}

template <class... Parameters, std::size_t... index>
void run_kernel(void (*kernel)(Parameters...), const dim3& grid, const dim3& block, void** arguments,
                cudaStream_t stream, std::index_sequence<index...> /*positions*/) {
  const std::tuple<std::remove_cv_t<Parameters>...> values(
      *static_cast<const std::remove_cv_t<Parameters>*>(arguments[index])...);
  order(stream, [kernel, grid, block, values] {
    (check_argument(std::get<index>(values)), ...);
    run_grid(grid.x, block.x, [&] { kernel(std::get<index>(values)...); });
  });
}

}  // namespace cuda_on_host

/// As CUDA's template of that name: `arguments` points to one value for each parameter.
template <class... Parameters>
cudaError_t cudaLaunchKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, void** arguments,
                             std::size_t /*shared_bytes*/ = 0, cudaStream_t stream = nullptr) {
  const cudaError_t status = cuda_on_host::begin_launch(grid, block, stream);
  if (status != cudaSuccess) return status;
  cuda_on_host::run_kernel(kernel, grid, block, arguments, stream, std::index_sequence_for<Parameters...>());
  return cudaSuccess;
}
