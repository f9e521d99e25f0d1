// A kernel as PTX says it, decoded once to be run many times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ptx/instruction.hpp"

namespace trigram::ptx {

/// Where a parameter lies among those of its kernel; in bytes.
struct Parameter {
  std::uint32_t offset = 0, size = 0, alignment = 1;
};

/// An entry of a module: its code, and what memory it needs.
struct Kernel {
  std::string name;
  std::vector<Parameter> parameters;
  std::uint32_t parameter_bytes = 0;
  /// Of each block, without what a launch adds.
  std::uint32_t shared_bytes = 0;
  /// Of each thread.
  std::uint32_t local_bytes = 0;
  /// Of a block, as .maxntid and .reqntid bound them.
  std::uint32_t least_threads = 1, most_threads = 1024;
  std::vector<Instruction> code;
  /// Of each warp.
  std::uint32_t register_bytes = 0;
  /// The values that stand in the code, each once for each lane.
  std::vector<std::byte> constants;
  /// Special registers, as `%tid.x`, that the code reads.
  std::vector<SpecialRegister> special_registers;
};

}  // namespace trigram::ptx
