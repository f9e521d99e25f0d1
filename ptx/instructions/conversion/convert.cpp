#include "ptx/instructions/conversion/convert.hpp"

#include "core/values/error.hpp"
#include "ptx/instructions/conversion/conversion.hpp"

namespace trigram::ptx {

namespace {

bool is_of_float(Type type) { return type.kind == Type::Kind::floating || type.kind == Type::Kind::brain_floating; }

/// Whether `to` does not hold all numbers of `from`.
bool narrows(Type to, Type from) { return to.bytes < from.bytes || (to.bytes == from.bytes && to.kind != from.kind); }

std::size_t take_rounding(Decoding& d) { return d.take_one({"rn", "rz", "rm", "rp"}); }
std::size_t take_rounding_to_whole(Decoding& d) { return d.take_one({"rni", "rzi", "rmi", "rpi"}); }

Handler handler_of_floats(Decoding& d, Conversion& c) {
  if (c.to == c.from) {
    if (const auto rounding = d.take_any({"rni", "rzi", "rmi", "rpi"})) {
      c.rounding = *rounding;
      return convert_to_whole(c);
    }
  } else if (narrows(c.to, c.from)) {
    c.rounding = take_rounding(d);
  }
  return convert_float_to_float(c);
}

Handler handler_of(Decoding& d, Conversion& c) {
  if (is_of_float(c.to) && is_of_float(c.from)) return handler_of_floats(d, c);
  if (is_of_float(c.to)) {
    c.rounding = take_rounding(d);
    return convert_integer_to_float(c);
  }
  if (is_of_float(c.from)) {
    c.rounding = take_rounding_to_whole(d);
    return convert_float_to_integer(c);
  }
  return convert_integer_to_integer(c);
}

}  // namespace

void decode_convert(Decoding& d) {
  const Type to = d.take_type(), from = d.take_type();
  require(to.kind != Type::Kind::bits && from.kind != Type::Kind::bits, "it converts numbers, and not bits");
  Conversion c{.to = to, .from = from, .saturates = d.take("sat")};
  c.flushes = (to == f32_type || from == f32_type) && d.take("ftz");
  d.instruction().handler = handler_of(d, c);
  d.wide_destination(to);
  d.wide_source(from);
}

}  // namespace trigram::ptx
