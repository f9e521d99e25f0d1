#include "ptx/reader/registers.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "core/values/error.hpp"
#include "ptx/reader/declaration.hpp"

namespace trigram::ptx {

namespace {

/// Of what lies side by side in a warp; a predicate is one word of bits.
std::uint32_t bytes_of_warp(std::uint8_t bytes) { return bytes == 0 ? 4U : lanes_of_warp * bytes; }

constexpr std::uint32_t row_alignment = 64;

}  // namespace

Operand Registers::add(std::uint8_t bytes) {
  const std::uint32_t alignment = bytes == 0 ? 4 : row_alignment;
  const std::uint32_t offset = aligned(kernel_.register_bytes, alignment);
  kernel_.register_bytes = offset + bytes_of_warp(bytes);
  return {.offset = offset, .bytes = bytes};
}

Operand Registers::constant(std::uint64_t bits, std::uint8_t bytes) {
  const auto [known, is_new] = constants_.try_emplace({bits, bytes});
  if (!is_new) return known->second;
  const std::size_t offset = aligned(static_cast<std::uint32_t>(kernel_.constants.size()), row_alignment);
  kernel_.constants.resize(offset + bytes_of_warp(bytes));
  if (bytes == 0) bits = bits == 0 ? 0 : std::numeric_limits<std::uint64_t>::max();
  const std::uint32_t copies = bytes == 0 ? 1 : lanes_of_warp;
  for (std::uint32_t copy = 0; copy < copies; ++copy) {
    std::memcpy(&kernel_.constants[offset + copy * bytes], &bits, bytes == 0 ? 4U : bytes);
  }
  known->second = {.offset = static_cast<std::uint32_t>(offset), .bank = Operand::Bank::constants, .bytes = bytes};
  return known->second;
}

Operand Registers::special(std::string_view name) {
  using enum SpecialRegister::Name;
  static const std::map<std::string_view, SpecialRegister::Name> names = {{"%tid.x", tid_x},
                                                                          {"%tid.y", tid_y},
                                                                          {"%tid.z", tid_z},
                                                                          {"%ntid.x", ntid_x},
                                                                          {"%ntid.y", ntid_y},
                                                                          {"%ntid.z", ntid_z},
                                                                          {"%ctaid.x", ctaid_x},
                                                                          {"%ctaid.y", ctaid_y},
                                                                          {"%ctaid.z", ctaid_z},
                                                                          {"%nctaid.x", nctaid_x},
                                                                          {"%nctaid.y", nctaid_y},
                                                                          {"%nctaid.z", nctaid_z},
                                                                          {"%laneid", laneid},
                                                                          {"%lanemask_eq", lanemask_eq},
                                                                          {"%lanemask_le", lanemask_le},
                                                                          {"%lanemask_lt", lanemask_lt},
                                                                          {"%lanemask_ge", lanemask_ge},
                                                                          {"%lanemask_gt", lanemask_gt}};
  const auto found = names.find(name);
  require(found != names.end(), "nothing declares ", name);
  auto& known = kernel_.special_registers;
  const auto used = std::ranges::find(known, found->second, &SpecialRegister::name);
  if (used != known.end()) return {.offset = used->offset, .bytes = 4};
  const Operand place = add(4);
  known.push_back({found->second, place.offset});
  return place;
}

}  // namespace trigram::ptx
