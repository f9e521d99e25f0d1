// What an instruction keeps busy.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "ptx/instruction.hpp"

namespace trigram::ptx {

/// Classes of instructions by the unit of a multiprocessor that does them.
enum class InstructionClass : std::uint8_t {
  global_load,
  global_store,
  shared,      ///< loads and stores of shared memory
  local,       ///< of a thread's own memory, where registers do not suffice or are indexed
  parameter,   ///< loads of a kernel's parameters, which machine code reads as constants
  float32,     ///< arithmetic and comparisons of f32 and smaller floats
  float64,     ///< of f64
  integer,     ///< arithmetic, logic, shifts and comparisons of whole numbers and bits
  conversion,  ///< between types
  exchange,    ///< shuffles, votes, matches and reductions in a warp
  barrier,     ///< of blocks and warps, and fences
  control,     ///< branches and ends of threads
  move,        ///< moves, selections and addresses of spaces, much of which no machine code is left of
};
constexpr std::size_t instruction_classes = 13;

/// "global_load", "float32": as columns of tables name them.
const char* name_of(InstructionClass one);

/// The class of a decoded instruction, by its text. Throws Error for an opcode that has none.
InstructionClass class_of(const Instruction& instruction);

}  // namespace trigram::ptx
