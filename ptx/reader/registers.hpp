// Lays out the registers and constants of a kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "ptx/instruction.hpp"
#include "ptx/kernel.hpp"

namespace trigram::ptx {

/// Gives registers and constants their places. Lanes of one register lie side by side, so that an instruction reads
/// them as a row.
class Registers {
 public:
  explicit Registers(Kernel& kernel) : kernel_(kernel) {}

  /// A new register of so many bytes a lane; 0 for a predicate.
  Operand add(std::uint8_t bytes);

  /// The same bits in all lanes; for a predicate any but 0 are true.
  Operand constant(std::uint64_t bits, std::uint8_t bytes);

  /// The place of a special register, as %tid.x; throws UsageError for one that is not known.
  Operand special(std::string_view name);

 private:
  Kernel& kernel_;
  std::map<std::pair<std::uint64_t, std::uint8_t>, Operand> constants_;
};

}  // namespace trigram::ptx
