#include "ptx/reader/type.hpp"

#include <map>

namespace trigram::ptx {

std::optional<Type> type_named(std::string_view name) {
  using enum Type::Kind;
  static const std::map<std::string_view, Type> types = {
      {"pred", predicate_type},     {"b8", {bits, 1}},      {"b16", {bits, 2}},    {"b32", bits32},
      {"b64", {bits, 8}},           {"u8", {whole, 1}},     {"u16", {whole, 2}},   {"u32", {whole, 4}},
      {"u64", {whole, 8}},          {"s8", {integer, 1}},   {"s16", {integer, 2}}, {"s32", {integer, 4}},
      {"s64", {integer, 8}},        {"f16", {floating, 2}}, {"f32", f32_type},     {"f64", f64_type},
      {"bf16", {brain_floating, 2}}};
  const auto found = types.find(name);
  return found == types.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace trigram::ptx
