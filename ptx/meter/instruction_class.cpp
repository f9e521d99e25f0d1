#include "ptx/meter/instruction_class.hpp"

#include <map>
#include <string>
#include <string_view>

#include "core/values/error.hpp"

namespace trigram::ptx {

namespace {

/// "ld.global.v4.f32" of "@%p1 ld.global.v4.f32 {%f1, ...}, [%rd1]".
std::string_view opcode_of(std::string_view text) {
  if (text.starts_with('@')) text.remove_prefix(std::min(text.find_first_of(" \t"), text.size()));
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return text.substr(0, text.find_first_of(" \t;"));
}

bool has(std::string_view opcode, std::string_view modifier) {
  for (std::size_t at = opcode.find(modifier); at != std::string_view::npos; at = opcode.find(modifier, at + 1)) {
    const std::size_t end = at + modifier.size();
    if (at > 0 && opcode[at - 1] == '.' && (end == opcode.size() || opcode[end] == '.')) return true;
  }
  return false;
}

InstructionClass access_class(std::string_view opcode, bool loads) {
  if (has(opcode, "shared") || has(opcode, "shared::cta")) return InstructionClass::shared;
  if (has(opcode, "local")) return InstructionClass::local;
  if (has(opcode, "param")) return InstructionClass::parameter;
  return loads ? InstructionClass::global_load : InstructionClass::global_store;
}

/// The last type in the opcode is that of what is computed on.
InstructionClass arithmetic_class(std::string_view opcode) {
  if (has(opcode, "f64")) return InstructionClass::float64;
  for (const std::string_view type : {"f32", "f16", "bf16", "f16x2", "bf16x2"}) {
    if (has(opcode, type)) return InstructionClass::float32;
  }
  return InstructionClass::integer;
}

const std::map<std::string_view, InstructionClass>& known_opcodes() {
  using enum InstructionClass;
  static const std::map<std::string_view, InstructionClass> known = {
      {"cvt", conversion},  {"bra", control},    {"ret", control},         {"exit", control},  {"bar", barrier},
      {"barrier", barrier}, {"membar", barrier}, {"fence", barrier},       {"shfl", exchange}, {"vote", exchange},
      {"match", exchange},  {"redux", exchange}, {"activemask", exchange}, {"mov", move},      {"cvta", move},
      {"selp", move},       {"isspacep", move}};
  return known;
}

}  // namespace

const char* name_of(InstructionClass one) {
  constexpr std::array<const char*, instruction_classes> names = {
      "global_load", "global_store", "shared",   "local",   "parameter", "float32", "float64",
      "integer",     "conversion",   "exchange", "barrier", "control",   "move"};
  return names[static_cast<std::size_t>(one)];
}

InstructionClass class_of(const Instruction& instruction) {
  const std::string_view opcode = opcode_of(instruction.text);
  const std::string_view name = opcode.substr(0, opcode.find('.'));
  ensure(!name.empty(), "an instruction has no opcode: ", instruction.text);
  if (name == "ld" || name == "st") return access_class(opcode, name == "ld");
  const auto found = known_opcodes().find(name);
  return found != known_opcodes().end() ? found->second : arithmetic_class(opcode);
}

}  // namespace trigram::ptx
