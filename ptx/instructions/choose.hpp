// Choices of a handler by the type that an instruction names.
#pragma once

#include <cstdint>
#include <type_traits>

#include "ptx/instruction.hpp"
#include "ptx/reader/type.hpp"

namespace trigram::ptx {

/// choose.operator()<T>() with the unsigned integer of so many bytes: 2, 4 or 8; none for others.
template <class Choose>
Handler for_bits(std::uint8_t bytes, Choose choose) {
  switch (bytes) {
    case 2:
      return choose.template operator()<std::uint16_t>();
    case 4:
      return choose.template operator()<std::uint32_t>();
    case 8:
      return choose.template operator()<std::uint64_t>();
    default:
      return nullptr;
  }
}

/// The same with signed integers for types that have a sign; none for what is no integer of 2, 4 or 8 bytes.
template <class Choose>
Handler for_integer(Type type, Choose choose) {
  if (!is_integer(type)) return nullptr;
  return for_bits(type.bytes, [&]<class Bits>() {
    return type.kind == Type::Kind::integer ? choose.template operator()<std::make_signed_t<Bits>>()
                                            : choose.template operator()<Bits>();
  });
}

/// The same with float or double.
template <class Choose>
Handler for_float(Type type, Choose choose) {
  if (type == f32_type) return choose.template operator()<float>();
  if (type == f64_type) return choose.template operator()<double>();
  return nullptr;
}

}  // namespace trigram::ptx
