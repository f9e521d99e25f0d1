// What all conversions share: their types, and registers that are wider than these.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "ptx/execution/lanes.hpp"
#include "ptx/instructions/conversion/small_floats.hpp"
#include "ptx/reader/type.hpp"

namespace trigram::ptx {

/// How a conversion is written, with its types apart; a rounding to whole numbers is an index of rni, rzi, rmi, rpi,
/// one to what a format holds an index of rounding_modes.
struct Conversion {
  Type to, from;
  bool flushes = false, saturates = false;
  std::size_t rounding = 0;
};

/// The bits of a value as a wider register keeps them: with copies of the sign of an integer, else with zeros.
template <class T>
std::uint64_t extended(T value) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<std::uint64_t>(value);
  } else {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
  }
}

inline void store_bits(std::byte* to, std::uint64_t bits, std::uint8_t bytes) {
  switch (bytes) {
    case 2:
      std::memcpy(to, &bits, 2);
      return;
    case 4:
      std::memcpy(to, &bits, 4);
      return;
    default:
      std::memcpy(to, &bits, 8);
  }
}

/// As each_lane for one source, where registers may be wider than their types.
template <auto function, class To, class From>
void convert_each(Lanes& lanes, const Instruction& i) {
  const Operand &to = i.operands[0], &from = i.operands[1];
  if (to.bytes == sizeof(To) && from.bytes == sizeof(From)) return each_lane<function, To, From>(lanes, i);
  over(lanes.active, [&, write = lanes.at(to), read = lanes.at(from)](std::uint32_t lane) {
    From value;
    std::memcpy(&value, read + lane * from.bytes, sizeof value);
    store_bits(write + lane * to.bytes, extended(static_cast<To>(function(value))), to.bytes);
  });
}

/// choose.operator()<T>() with the integer type; none for other types.
template <class Choose>
Handler for_any_integer(Type type, Choose choose) {
  if (!is_integer(type)) return nullptr;
  const bool has_sign = type.kind == Type::Kind::integer;
  switch (type.bytes) {
    case 1:
      return has_sign ? choose.template operator()<std::int8_t>() : choose.template operator()<std::uint8_t>();
    case 2:
      return has_sign ? choose.template operator()<std::int16_t>() : choose.template operator()<std::uint16_t>();
    case 4:
      return has_sign ? choose.template operator()<std::int32_t>() : choose.template operator()<std::uint32_t>();
    default:
      return has_sign ? choose.template operator()<std::int64_t>() : choose.template operator()<std::uint64_t>();
  }
}

/// The same with floating-point types.
template <class Choose>
Handler for_any_float(Type type, Choose choose) {
  if (type == f32_type) return choose.template operator()<float>();
  if (type == f64_type) return choose.template operator()<double>();
  if (type == Type{Type::Kind::floating, 2}) return choose.template operator()<Half>();
  if (type == Type{Type::Kind::brain_floating, 2}) return choose.template operator()<BrainFloat>();
  return nullptr;
}

/// The number as a double, which holds every one of the others.
template <class T>
double to_double(T x) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<double>(x);
  } else {
    return x.to_float();
  }
}

Handler convert_integer_to_integer(const Conversion& conversion);
Handler convert_integer_to_float(const Conversion& conversion);
Handler convert_float_to_integer(const Conversion& conversion);
Handler convert_float_to_float(const Conversion& conversion);
/// Rounds to a whole number of the same type.
Handler convert_to_whole(const Conversion& conversion);

}  // namespace trigram::ptx
