// Finds what the lanes of a warp access, and refuses what they may not.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "ptx/address_space.hpp"
#include "ptx/execution/lanes.hpp"

namespace trigram::ptx {

/// Where each active lane's bytes lie on the host; what a lane writes there is stored once Lanes::stores, if any, has
/// kept it.
using Located = std::array<std::byte*, lanes_of_warp>;

/// What an instruction accesses: in each lane so many bytes, which have to be aligned to as many.
struct Accessed {
  const Operand& address;
  Space space;
  Access access;
  std::uint32_t bytes;
};

/// Throws a Fault of memcheck where a lane may not access its address.
Located locate(Lanes& lanes, const Instruction& instruction, const Accessed& accessed);

}  // namespace trigram::ptx
