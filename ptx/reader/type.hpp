// Types as instructions name them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace trigram::ptx {

struct Type {
  enum class Kind : std::uint8_t { predicate, bits, whole, integer, floating, brain_floating };
  Kind kind;
  /// Of one value; 0 for a predicate.
  std::uint8_t bytes;

  bool operator==(const Type&) const = default;
};

constexpr Type predicate_type{Type::Kind::predicate, 0};
constexpr Type bits32{Type::Kind::bits, 4};
constexpr Type f32_type{Type::Kind::floating, 4};
constexpr Type f64_type{Type::Kind::floating, 8};

/// Returns the type of such a name, without its dot: pred, b32, u64, s16, f32, bf16. Types of two values in one
/// register and those of less than a byte are not known.
std::optional<Type> type_named(std::string_view name);

/// Whether the values are of a kind that integer instructions count with; plain bits count as without sign.
constexpr bool is_integer(Type t) {
  return t.kind == Type::Kind::bits || t.kind == Type::Kind::whole || t.kind == Type::Kind::integer;
}

}  // namespace trigram::ptx
