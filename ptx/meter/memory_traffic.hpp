// What accesses of a warp ask of memory, as CUDA's programming guide says of devices from sm_70 on.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/observer.hpp"

namespace trigram::ptx {

/// Global memory is moved in sectors of so many bytes.
constexpr std::uint64_t sector_bytes = 32;
/// Shared memory has so many banks, each of which gives one word of 4 bytes at a time.
constexpr std::uint32_t banks = 32, bank_bytes = 4;

/// What one access of a warp to global memory asks for.
struct Sectors {
  std::vector<std::uint64_t> touched;  ///< numbers of different sectors, ascending
  std::uint64_t useful_bytes = 0;      ///< bytes that any lane takes, each counted once
};
Sectors sectors_of(const WarpAccess& access);

/// How often shared memory has to answer one access of a warp.
struct Wavefronts {
  std::uint32_t needed = 0;  ///< with no two words in one bank: 1, or 2 and 4 where lanes take 8 and 16 bytes
  std::uint32_t taken = 0;   ///< as the words lie in banks
};
/// Lanes that take 8 bytes are answered by halves of a warp, those that take 16 by quarters; lanes that read the same
/// word share it.
Wavefronts wavefronts_of(const WarpAccess& access);

}  // namespace trigram::ptx
