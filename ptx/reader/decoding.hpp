// The text of one instruction, whose parts are taken one by one by what decodes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/instruction.hpp"
#include "ptx/reader/scope.hpp"
#include "ptx/reader/type.hpp"

namespace trigram::ptx {

/// An instruction on its way from text to what is run. Modifiers and operands are taken; what nobody took is refused at
/// the end, so that nothing in the text goes unread. Every function throws UsageError where the text is not as it has
/// to be.
class Decoding {
 public:
  /// Takes the guard and the opcode. The text has to outlive it.
  Decoding(std::string_view text, Scope& scope);

  std::string_view opcode() const { return opcode_; }

  /// Takes a modifier, wherever it stands, and says whether it was there.
  bool take(std::string_view modifier);

  /// Takes the one of these that is there, if any; returns its index.
  std::optional<std::size_t> take_any(std::initializer_list<std::string_view> modifiers);

  /// The same where one has to be there.
  std::size_t take_one(std::initializer_list<std::string_view> modifiers);

  /// Takes the first modifier that names a type.
  Type take_type();
  std::optional<Type> take_type_if_any();

  /// How many operands are left to take.
  std::size_t operands_left() const { return texts_.size() - next_operand_; }

  /// The next operand, as it is written.
  std::string_view take_text();

  /// Takes the next operand and appends it to the instruction: a register of just that size, or for a source a constant
  /// too.
  void destination(Type type);
  void source(Type type);
  /// The same for several sources.
  void sources(std::initializer_list<Type> types);

  /// An operand of an instruction that lets registers be wider than what it reads or writes.
  void wide_destination(Type type);
  void wide_source(Type type);

  /// Appends the elements of `{a, b}`, or one operand without braces. Returns how many there are.
  std::size_t destination_elements(std::string_view text, Type type, bool may_be_wider);
  std::size_t source_elements(std::string_view text, Type type, bool may_be_wider);

  /// Takes `[address + offset]`; addresses in registers may have 4 or 8 bytes.
  void address();

  /// Appends a destination from its text; `_` is one that nobody reads.
  void destination_from(std::string_view text, Type type, bool may_be_wider);
  /// Appends a source from its text.
  void source_from(std::string_view text, Type type, bool may_be_wider);

  /// Appends a source that the text does not name.
  void append_constant(std::uint64_t bits, Type type);

  /// Throws unless all has been taken and the instruction can be run; returns it.
  Instruction finish();

  Instruction& instruction() { return instruction_; }

  /// The label of a branch.
  const std::string& label() const { return label_; }
  void set_label(std::string_view label) { label_ = label; }

 private:
  void append(Operand operand);
  void check_width(std::string_view text, const Operand& operand, Type type, bool may_be_wider) const;

  Scope& scope_;
  std::string_view opcode_;
  std::vector<std::string_view> modifiers_, texts_;
  std::size_t next_operand_ = 0;
  Instruction instruction_;
  std::string label_;
};

}  // namespace trigram::ptx
