// What was counted of a kernel.
#pragma once

#include <array>
#include <cstdint>

#include "ptx/meter/instruction_class.hpp"

namespace trigram::ptx {

/// Accesses of warps to global memory, loads or stores.
struct GlobalCounts {
  std::uint64_t requests = 0;      ///< instructions of warps with at least one lane
  std::uint64_t sectors = 0;       ///< of 32 bytes, of each request
  std::uint64_t useful_bytes = 0;  ///< that lanes of a request take, each once
  std::uint64_t different = 0;     ///< sectors of a whole launch, each once: what a cache that keeps all lets through

  void add(const GlobalCounts& other);
};

/// Of all launches of one kernel.
struct KernelCounts {
  std::uint64_t launches = 0, blocks = 0;
  std::uint32_t threads = 0;       ///< of a block, at the last launch
  std::uint32_t shared_bytes = 0;  ///< of a block, with what the launch adds
  /// Instructions of warps, by class.
  std::array<std::uint64_t, instruction_classes> instructions{};
  /// Lanes that ran together at all instructions, and those of them that no guard turned off.
  std::uint64_t lanes_together = 0, lanes_active = 0;
  GlobalCounts loads, stores;
  std::uint64_t shared_requests = 0, wavefronts_needed = 0, wavefronts = 0;

  std::uint64_t all_instructions() const;
  void add(const KernelCounts& other);
};

}  // namespace trigram::ptx
