#include "ptx/reader/scope.hpp"

#include <charconv>
#include <cstddef>
#include <optional>

#include "core/values/error.hpp"
#include "ptx/reader/texts.hpp"
#include "ptx/reader/type.hpp"

namespace trigram::ptx {

namespace {

/// The bits of 0f3F800000 or 0d3FF0000000000000; nothing where the text is none of that many bytes.
std::optional<std::uint64_t> float_bits(std::string_view text, std::uint8_t bytes) {
  const bool single = bytes == 4 && (text.starts_with("0f") || text.starts_with("0F"));
  const bool twice = bytes == 8 && (text.starts_with("0d") || text.starts_with("0D"));
  if ((!single && !twice) || text.size() != 2 + 2U * bytes) return std::nullopt;
  std::uint64_t bits = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data() + 2, end, bits, 16);
  return read.ec == std::errc() && read.ptr == end ? std::optional(bits) : std::nullopt;
}

}  // namespace

void Scope::close() {
  require(blocks_.size() > 1, "no block is open here");
  blocks_.pop_back();
}

void Scope::declare_registers(std::string_view text) {
  const std::size_t end = text.find(' ');
  const auto type =
      text.starts_with('.') && end != std::string_view::npos ? type_named(text.substr(1, end - 1)) : std::nullopt;
  require(type.has_value(), "the interpreter does not know registers of this type");
  for (const std::string_view name : split_operands(text.substr(end))) {
    const std::size_t bracket = name.find('<');
    if (bracket == std::string_view::npos) {
      declare(name, registers_.add(type->bytes));
      continue;
    }
    const auto count =
        name.ends_with('>') ? integer_of(name.substr(bracket + 1, name.size() - bracket - 2)) : std::nullopt;
    require(count && *count <= 1U << 20, name, " declares no number of registers");
    const std::string stem(name.substr(0, bracket));
    for (std::uint64_t i = 0; i < *count; ++i) declare(stem + std::to_string(i), registers_.add(type->bytes));
  }
}

void Scope::declare_address(const std::string& name, std::uint64_t address) { declare(name, address); }

Operand Scope::operand(std::string_view text, std::uint8_t bytes) {
  if (const Named* named = find(text)) {
    if (const auto* place = std::get_if<Operand>(named)) return *place;
    return address(text, std::get<std::uint64_t>(*named), bytes);
  }
  if (const auto bits = float_bits(text, bytes)) return registers_.constant(*bits, bytes);
  if (const auto value = integer_of(text)) {
    if (bytes == 1) bytes = 2;
    const std::uint64_t kept = bytes == 0 || bytes == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * bytes) - 1;
    return registers_.constant(*value & kept, bytes);
  }
  const std::size_t plus = text.find('+');
  if (plus != std::string_view::npos) {
    const Named* base = find(trimmed(text.substr(0, plus)));
    const auto offset = integer_of(trimmed(text.substr(plus + 1)));
    if (base && offset && std::holds_alternative<std::uint64_t>(*base))
      return address(text, std::get<std::uint64_t>(*base) + *offset, bytes);
  }
  require(text.starts_with('%'), "nothing declares '", text, "'");
  return registers_.special(text);
}

Operand Scope::address(std::string_view text, std::uint64_t address, std::uint8_t bytes) {
  require(bytes >= 4, text, " is an address, which takes 4 or 8 bytes");
  return registers_.constant(address, bytes);
}

void Scope::declare(std::string_view name, Named named) {
  require(blocks_.back().emplace(std::string(name), named).second, name, " is declared twice");
}

const Scope::Named* Scope::find(std::string_view name) const {
  for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block) {
    const auto found = block->find(name);
    if (found != block->end()) return &found->second;
  }
  return nullptr;
}

}  // namespace trigram::ptx
