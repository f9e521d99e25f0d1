// The shape of a grid of threads, and what is given to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace trigram::ptx {

struct Dimensions {
  std::uint32_t x = 1, y = 1, z = 1;
};

/// Returns the number of blocks of a grid, or of threads of a block.
constexpr std::uint64_t count(Dimensions d) { return std::uint64_t{d.x} * d.y * d.z; }

/// How a kernel is launched.
struct Launch {
  Dimensions grid = {}, block = {};
  /// Size of the arrays that a kernel declares as `extern __shared__`.
  std::uint32_t dynamic_shared_bytes = 0;
  /// All parameters, each where Kernel::parameters says.
  std::span<const std::byte> parameters = {};
};

}  // namespace trigram::ptx
