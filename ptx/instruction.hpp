// One instruction, decoded.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace trigram::ptx {

constexpr std::uint32_t lanes_of_warp = 32;

/// Where the lanes' values of a register or of a constant lie, one after another; predicates are one bit a lane.
struct Operand {
  enum class Bank : std::uint8_t { registers, constants };
  std::uint32_t offset = 0;
  Bank bank = Bank::registers;
  /// Of one lane; 0 for a predicate.
  std::uint8_t bytes = 0;
  /// Whether a predicate is read as its contrary.
  bool negated = false;
};

/// A special register that a kernel reads, and where its lanes lie.
struct SpecialRegister {
  enum class Name : std::uint8_t {
    tid_x,
    tid_y,
    tid_z,
    ntid_x,
    ntid_y,
    ntid_z,
    ctaid_x,
    ctaid_y,
    ctaid_z,
    nctaid_x,
    nctaid_y,
    nctaid_z,
    laneid,
    lanemask_eq,
    lanemask_le,
    lanemask_lt,
    lanemask_ge,
    lanemask_gt,
  };
  Name name;
  std::uint32_t offset = 0;
};

/// Where an instruction is from.
struct Place {
  /// Of the PTX.
  std::uint32_t line = 0;
  /// Of the source, where nvcc was given -lineinfo; else empty and 0.
  std::string source_file;
  std::uint32_t source_line = 0;
};

struct Lanes;
struct Instruction;

/// Computes an instruction in all lanes that are active.
using Handler = void (*)(Lanes&, const Instruction&);

/// How an instruction concerns its warp: most are computed lane by lane, one after another.
enum class Flow : std::uint8_t { next, branch, exit, block_barrier, warp_barrier, collective };

struct Instruction {
  Handler handler = nullptr;
  Flow flow = Flow::next;
  bool guarded = false;
  /// Of a load or store: whether PTX's memory model calls it strong, as volatile and relaxed ones.
  bool is_strong = false;
  /// How many of the operands there are.
  std::uint8_t operand_count = 0;
  Operand guard;
  /// Destinations first, in the order of the text; of a vector, its elements.
  std::array<Operand, 9> operands;
  /// What is added to an address.
  std::int64_t offset = 0;
  /// Where a branch goes: an index into Kernel::code.
  std::uint32_t target = 0;
  std::string text;
  Place place;
};

}  // namespace trigram::ptx
