#include "ptx/reader/decoding.hpp"

#include <algorithm>

#include "core/values/error.hpp"
#include "ptx/reader/texts.hpp"

namespace trigram::ptx {

namespace {

bool is_integer_literal(std::string_view text) { return integer_of(text).has_value(); }

std::vector<std::string_view> elements_of(std::string_view text) {
  if (!text.starts_with('{')) return {text};
  require(text.ends_with('}'), "no brace closes ", text);
  return split_operands(text.substr(1, text.size() - 2));
}

}  // namespace

Decoding::Decoding(std::string_view text, Scope& scope) : scope_(scope) {
  instruction_.text = text;
  if (text.starts_with('@')) {
    const std::size_t end = std::min(text.find(' '), text.size());
    std::string_view guard = text.substr(1, end - 1);
    instruction_.guarded = true;
    const bool negated = guard.starts_with('!');
    guard.remove_prefix(negated ? 1 : 0);
    instruction_.guard = scope_.operand(guard, 0);
    require(instruction_.guard.bytes == 0, guard, " guards the instruction and is no predicate");
    instruction_.guard.negated = negated;
    text = trimmed(text.substr(end));
  }
  const std::size_t end = std::min(text.find(' '), text.size());
  modifiers_ = split_operands(text.substr(0, end), '.');
  require(!modifiers_.empty(), "no instruction follows the guard");
  opcode_ = modifiers_.front();
  modifiers_.erase(modifiers_.begin());
  texts_ = split_operands(text.substr(end));
}

bool Decoding::take(std::string_view modifier) {
  const auto found = std::ranges::find(modifiers_, modifier);
  if (found == modifiers_.end()) return false;
  modifiers_.erase(found);
  return true;
}

std::optional<std::size_t> Decoding::take_any(std::initializer_list<std::string_view> modifiers) {
  for (std::size_t i = 0; i < modifiers.size(); ++i) {
    if (take(modifiers.begin()[i])) return i;
  }
  return std::nullopt;
}

std::size_t Decoding::take_one(std::initializer_list<std::string_view> modifiers) {
  const auto taken = take_any(modifiers);
  if (taken) return *taken;
  std::string known;
  for (const std::string_view modifier : modifiers) known.append(" .").append(modifier);
  throw UsageError("the interpreter knows it with one of" + known);
}

Type Decoding::take_type() {
  const auto type = take_type_if_any();
  require(type.has_value(), "it names no type that the interpreter knows");
  return *type;
}

std::optional<Type> Decoding::take_type_if_any() {
  const auto found = std::ranges::find_if(modifiers_, [](std::string_view m) { return type_named(m).has_value(); });
  if (found == modifiers_.end()) return std::nullopt;
  const auto type = type_named(*found);
  modifiers_.erase(found);
  return type;
}

std::string_view Decoding::take_text() {
  require(next_operand_ < texts_.size(), "it has too few operands");
  return texts_[next_operand_++];
}

void Decoding::destination(Type type) { destination_from(take_text(), type, false); }
void Decoding::source(Type type) { source_from(take_text(), type, false); }
void Decoding::sources(std::initializer_list<Type> types) {
  for (const Type type : types) source(type);
}

void Decoding::wide_destination(Type type) { destination_from(take_text(), type, true); }
void Decoding::wide_source(Type type) { source_from(take_text(), type, true); }

std::size_t Decoding::destination_elements(std::string_view text, Type type, bool may_be_wider) {
  const auto elements = elements_of(text);
  for (const std::string_view element : elements) destination_from(element, type, may_be_wider);
  return elements.size();
}

std::size_t Decoding::source_elements(std::string_view text, Type type, bool may_be_wider) {
  const auto elements = elements_of(text);
  for (const std::string_view element : elements) source_from(element, type, may_be_wider);
  return elements.size();
}

void Decoding::address() {
  std::string_view text = take_text();
  require(text.starts_with('[') && text.ends_with(']'), text, " is no address");
  text = trimmed(text.substr(1, text.size() - 2));
  const std::size_t plus = text.find('+');
  if (plus != std::string_view::npos) {
    const auto offset = integer_of(trimmed(text.substr(plus + 1)));
    require(offset.has_value(), text, " is no address");
    instruction_.offset = static_cast<std::int64_t>(*offset);
    text = trimmed(text.substr(0, plus));
  }
  const Operand base = scope_.operand(text, 8);
  require(base.bytes == 4 || base.bytes == 8, text, " is no address");
  append(base);
}

void Decoding::destination_from(std::string_view text, Type type, bool may_be_wider) {
  if (text == "_") return append(scope_.registers().add(type.bytes == 1 ? 2 : type.bytes));
  const Operand operand = scope_.operand(text, type.bytes);
  require(operand.bank == Operand::Bank::registers, text, " is no register to write to");
  check_width(text, operand, type, may_be_wider);
  append(operand);
}

void Decoding::source_from(std::string_view text, Type type, bool may_be_wider) {
  const bool negated = type == predicate_type && text.starts_with('!');
  if (negated) text = trimmed(text.substr(1));
  const bool is_float = type.kind == Type::Kind::floating || type.kind == Type::Kind::brain_floating;
  require(!is_float || !is_integer_literal(text), text, " is an integer where a floating-point number belongs");
  Operand operand = scope_.operand(text, type.bytes);
  check_width(text, operand, type, may_be_wider);
  operand.negated = negated;
  append(operand);
}

void Decoding::append_constant(std::uint64_t bits, Type type) { append(scope_.registers().constant(bits, type.bytes)); }

Instruction Decoding::finish() {
  require(modifiers_.empty(), "the interpreter does not know it with .",
          [&] { return std::string(modifiers_.front()); });
  require(operands_left() == 0, "it has too many operands");
  require(instruction_.handler != nullptr || instruction_.flow != Flow::next,
          "the interpreter does not know it for this type");
  return std::move(instruction_);
}

void Decoding::append(Operand operand) {
  require(instruction_.operand_count < instruction_.operands.size(), "it has too many operands");
  instruction_.operands[instruction_.operand_count++] = operand;
}

void Decoding::check_width(std::string_view text, const Operand& operand, Type type, bool may_be_wider) const {
  const bool fits = operand.bytes == type.bytes || (may_be_wider && type.bytes > 0 && operand.bytes > type.bytes);
  require(fits, text, " has ", operand.bytes * 8, " bits, and the instruction takes ", type.bytes * 8);
}

}  // namespace trigram::ptx
