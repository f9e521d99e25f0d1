// Kernels as PTX says them, decoded once to be run many times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
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
  std::vector<Instruction> code;
  /// Of each warp.
  std::uint32_t register_bytes = 0;
  /// The values that stand in the code, each once for each lane.
  std::vector<std::byte> constants;
  /// Special registers, as `%tid.x`, that the code reads.
  std::vector<SpecialRegister> special_registers;
};

/// What one file of PTX holds.
class Module {
 public:
  /// Reads what nvcc writes; `name` says in messages where the text is from. Throws UsageError for anything that the
  /// interpreter does not know, with the statement, its kernel and its line.
  static Module read(std::string_view text, std::string name);

  /// Throws UsageError for a name that the module does not have.
  const Kernel& kernel(const std::string& name) const;

  const std::map<std::string, Kernel>& kernels() const { return kernels_; }

 private:
  std::string name_;
  std::map<std::string, Kernel> kernels_;
};

}  // namespace trigram::ptx
