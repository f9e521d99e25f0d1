// A thread at an instruction, as messages name it.
#pragma once

#include <cstdint>
#include <string>

#include "ptx/address_space.hpp"
#include "ptx/grid.hpp"
#include "ptx/instruction.hpp"
#include "ptx/kernel.hpp"

namespace trigram::ptx {

struct Where {
  const Kernel& kernel;
  const Instruction& instruction;
  /// Of the block in its grid, and the number of threads of a block.
  Dimensions block, threads;
  /// Its number in the block.
  std::uint64_t thread;
};

/// Returns "'st.global.u32 [%rd2], 1' of kernel k, k.cu:40 (line 15 of the PTX), in block (0,0,0), thread (7,0,0)"; the
/// line of the source is there if nvcc was given -lineinfo.
std::string in_words(const Where& where);

/// Returns a kernel's name as C++ writes it, where it is mangled, else the name.
std::string readable(const std::string& name);

/// Returns "0x1f".
std::string hexadecimal(std::uint64_t number);

/// Returns "shared".
const char* name_of(Space space);

}  // namespace trigram::ptx
