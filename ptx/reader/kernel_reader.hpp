// Reads one kernel.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "ptx/kernel.hpp"
#include "ptx/reader/declaration.hpp"
#include "ptx/reader/pieces.hpp"

namespace trigram::ptx {

/// What a file of PTX says beside its kernels.
struct Surroundings {
  /// Names of source files by their numbers.
  std::map<std::uint64_t, std::string> files;
  /// Shared variables outside of all kernels; each kernel has its own of those that it names.
  std::vector<Declaration> shared;
};

/// Reads the kernel whose heading comes first and whose body follows, up to the brace that closes it. Throws UsageError
/// with the line and the statement that it does not know.
Kernel read_kernel(std::span<const Piece> pieces, const Surroundings& surroundings, const Pieces& source);

}  // namespace trigram::ptx
