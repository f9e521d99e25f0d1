// What names of a kernel stand for.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ptx/instruction.hpp"
#include "ptx/reader/registers.hpp"

namespace trigram::ptx {

/// The names that a statement may use: those of its block, and of the blocks around it.
class Scope {
 public:
  explicit Scope(Registers& registers) : registers_(registers), blocks_(1) {}

  void open() { blocks_.emplace_back(); }
  void close();

  /// Reads `.b32 %r<10>, x` after `.reg`.
  void declare_registers(std::string_view text);

  /// A variable or a parameter, by its address in its state space.
  void declare_address(const std::string& name, std::uint64_t address);

  /// The place of a register or of a constant as a statement writes it, for a type of so many bytes; no register has
  /// less than two. Throws UsageError for a name that nobody declared.
  Operand operand(std::string_view text, std::uint8_t bytes);

  Registers& registers() { return registers_; }

 private:
  using Named = std::variant<Operand, std::uint64_t>;

  Operand address(std::string_view text, std::uint64_t address, std::uint8_t bytes);
  void declare(std::string_view name, Named named);
  const Named* find(std::string_view name) const;

  Registers& registers_;
  std::vector<std::map<std::string, Named, std::less<>>> blocks_;
};

}  // namespace trigram::ptx
