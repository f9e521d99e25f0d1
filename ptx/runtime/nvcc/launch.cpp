#include "ptx/runtime/nvcc/launch.hpp"

#include <cstring>
#include <memory>
#include <vector>

#include "ptx/execution/launch.hpp"
#include "ptx/runtime/nvcc/device_memory.hpp"
#include "ptx/runtime/nvcc/kernels.hpp"
#include "ptx/runtime/nvcc/observers.hpp"
#include "ptx/runtime/order.hpp"
#include "ptx/runtime/state.hpp"

namespace cuda_on_host {
namespace {

namespace ptx = trigram::ptx;

struct Ordered {
  const ptx::Kernel* kernel;
  ptx::Launch launch;
  std::vector<std::byte> parameters;
  ptx::Schedule schedule;
  int device;
};

std::vector<std::byte> copied(const ptx::Kernel& kernel, void** arguments) {
  std::vector<std::byte> parameters(kernel.parameter_bytes);
  for (const ptx::Parameter& one : kernel.parameters) std::memcpy(&parameters[one.offset], *arguments++, one.size);
  return parameters;
}

void run(const Ordered& ordered) {
  if (usable() != cudaSuccess) return;
  DeviceMemory memory(ordered.device);
  ptx::Launch launch = ordered.launch;
  launch.parameters = ordered.parameters;
  try {
    const auto observer = observer_of(*ordered.kernel, ordered.device);
    ptx::launch(*ordered.kernel, launch, memory, ordered.schedule, observer.get());
  } catch (const std::exception& failure) {
    misuse(failure.what());
  }
}

}  // namespace

cudaError_t launch(const void* function, dim3 grid, dim3 block, void** arguments, std::size_t shared_bytes,
                   cudaStream_t stream) {
  if (const cudaError_t status = begin_launch(grid, block, stream); status != cudaSuccess) return status;
  const auto ordered = std::make_shared<Ordered>();
  try {
    ordered->kernel = &launched_kernel(function);
  } catch (const std::exception& failure) {
    misuse(failure.what());
    return usable();
  }
  ordered->launch = {
      {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, static_cast<std::uint32_t>(shared_bytes), {}};
  ordered->parameters = copied(*ordered->kernel, arguments);
  ordered->schedule = next_schedule();
  ordered->device = current_device();
  order(stream, [ordered] { run(*ordered); });
  return usable();
}

}  // namespace cuda_on_host
