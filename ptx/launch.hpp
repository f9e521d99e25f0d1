// Runs a kernel on this host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ptx/fault.hpp"
#include "ptx/memory.hpp"
#include "ptx/module.hpp"
#include "ptx/schedule.hpp"

namespace trigram::ptx {

struct Dimensions {
  std::uint32_t x = 1, y = 1, z = 1;
};

/// Returns the number of blocks of a grid, or of threads of a block.
constexpr std::uint64_t count(Dimensions d) { return std::uint64_t{d.x} * d.y * d.z; }

/// How a kernel is launched.
struct Launch {
  Dimensions grid, block;
  /// Size of the arrays that a kernel declares as `extern __shared__`.
  std::uint32_t dynamic_shared_bytes = 0;
  /// All parameters, each where Kernel::parameters says.
  std::span<const std::byte> parameters;
};

/// Runs all blocks of a grid, one after another. Throws Fault for what the kernel does wrong, and UsageError for a
/// launch that CUDA would refuse.
void launch(const Kernel& kernel, const Launch& launch, Memory& memory, Schedule schedule);

}  // namespace trigram::ptx
