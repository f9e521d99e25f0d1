#include "ptx/instructions/integer.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <type_traits>

#include "core/values/error.hpp"
#include "ptx/execution/lanes.hpp"
#include "ptx/instructions/choose.hpp"

namespace trigram::ptx {

namespace integer {

/// Integers that wrap around, and in which those of 16 bits are not promoted to signed ones.
template <class T>
using Ring = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
__extension__ typedef __int128 SignedOf128;
__extension__ typedef unsigned __int128 UnsignedOf128;
/// Integers of twice the size, for whole products.
template <class T>
using Twice = std::conditional_t<
    sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>,
    std::conditional_t<sizeof(T) == 4, std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>,
                       std::conditional_t<std::is_signed_v<T>, SignedOf128, UnsignedOf128>>>;

constexpr auto add = []<class T>(T a, T b) { return static_cast<T>(Ring<T>(a) + Ring<T>(b)); };
constexpr auto subtract = []<class T>(T a, T b) { return static_cast<T>(Ring<T>(a) - Ring<T>(b)); };
constexpr auto multiply = []<class T>(T a, T b) { return static_cast<T>(Ring<T>(a) * Ring<T>(b)); };
constexpr auto multiply_add = []<class T>(T a, T b, T c) {
  return static_cast<T>(Ring<T>(a) * Ring<T>(b) + Ring<T>(c));
};
constexpr auto high = []<class T>(T a, T b) {
  return static_cast<T>((static_cast<Twice<T>>(a) * static_cast<Twice<T>>(b)) >> (8 * sizeof(T)));
};
constexpr auto high_add = []<class T>(T a, T b, T c) { return add(high(a, b), c); };
constexpr auto wide = []<class T>(T a, T b) {
  return static_cast<Twice<T>>(static_cast<Twice<T>>(a) * static_cast<Twice<T>>(b));
};
constexpr auto wide_add = []<class T>(T a, T b, Twice<T> c) { return add(wide(a, b), c); };
constexpr auto negate = []<class T>(T a) { return static_cast<T>(Ring<T>(0) - Ring<T>(a)); };
constexpr auto absolute = []<class T>(T a) { return a < 0 ? negate(a) : a; };
constexpr auto distance_add = []<class T>(T a, T b, T c) { return add(c, a < b ? subtract(b, a) : subtract(a, b)); };
constexpr auto least = []<class T>(T a, T b) { return std::min(a, b); };
constexpr auto largest = []<class T>(T a, T b) { return std::max(a, b); };

constexpr auto saturated = [](std::int64_t exact) {
  using Limits = std::numeric_limits<std::int32_t>;
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(exact, Limits::min(), Limits::max()));
};
constexpr auto add_saturated = [](std::int32_t a, std::int32_t b) { return saturated(std::int64_t{a} + b); };
constexpr auto subtract_saturated = [](std::int32_t a, std::int32_t b) { return saturated(std::int64_t{a} - b); };

/// PTX leaves open what a division by zero gives; GPUs give all bits.
constexpr auto divide = []<class T>(T a, T b) {
  if (b == 0) return static_cast<T>(~T{0});
  if (std::is_signed_v<T> && b == static_cast<T>(-1)) return negate(a);
  return static_cast<T>(a / b);
};
/// That of a division by zero is the dividend.
constexpr auto remainder = []<class T>(T a, T b) {
  if (b == 0) return a;
  if (std::is_signed_v<T> && b == static_cast<T>(-1)) return T{0};
  return static_cast<T>(a % b);
};

template <auto function>
Handler unary(Type type) {
  return for_integer(type, []<class T>() -> Handler { return each_lane<function, T, T>; });
}
template <auto function>
Handler binary(Type type) {
  return for_integer(type, []<class T>() -> Handler { return each_lane<function, T, T, T>; });
}
template <auto function>
Handler ternary(Type type) {
  return for_integer(type, []<class T>() -> Handler { return each_lane<function, T, T, T, T>; });
}

void decode_unary(Decoding& d, Type type, Handler handler) {
  require(type.kind == Type::Kind::integer, "it needs a type with a sign");
  d.instruction().handler = handler;
  d.destination(type);
  d.source(type);
}

void decode_binary(Decoding& d, Type type, Handler handler) {
  d.instruction().handler = handler;
  d.destination(type);
  d.sources({type, type});
}

template <auto plain, auto saturating>
void decode_sum(Decoding& d, Type type) {
  const bool saturates = d.take("sat");
  require(!saturates || type == Type{Type::Kind::integer, 4}, "only s32 saturates");
  decode_binary(d, type,
                saturates ? each_lane<saturating, std::int32_t, std::int32_t, std::int32_t> : binary<plain>(type));
}

Type twice(Type type) { return {type.kind, static_cast<std::uint8_t>(2 * type.bytes)}; }

enum Part : std::size_t { low_part, high_part, all };

Handler wide_handler(Type type, bool adds) {
  require(type.bytes < 8, "a whole product of 128 bits fits no register");
  return for_integer(type, [&]<class T>() -> Handler {
    return adds ? Handler(each_lane<wide_add, Twice<T>, T, T, Twice<T>>) : Handler(each_lane<wide, Twice<T>, T, T>);
  });
}

void decode_product(Decoding& d, Type type) {
  const std::size_t part = d.take_one({"lo", "hi", "wide"});
  d.instruction().handler = part == all         ? wide_handler(type, false)
                            : part == high_part ? binary<high>(type)
                                                : binary<multiply>(type);
  d.destination(part == all ? twice(type) : type);
  d.sources({type, type});
}

void decode_product_sum(Decoding& d, Type type) {
  const std::size_t part = d.take_one({"lo", "hi", "wide"});
  d.instruction().handler = part == all         ? wide_handler(type, true)
                            : part == high_part ? ternary<high_add>(type)
                                                : ternary<multiply_add>(type);
  const Type result = part == all ? twice(type) : type;
  d.destination(result);
  d.sources({type, type, result});
}

void decode_distance(Decoding& d, Type type) {
  d.instruction().handler = ternary<distance_add>(type);
  d.destination(type);
  d.sources({type, type, type});
}

}  // namespace integer

void decode_integer(Decoding& decoding, Type type) {
  using Decode = void (*)(Decoding&, Type);
  static const std::map<std::string_view, Decode> decoders = {
      {"add", integer::decode_sum<integer::add, integer::add_saturated>},
      {"sub", integer::decode_sum<integer::subtract, integer::subtract_saturated>},
      {"mul", integer::decode_product},
      {"mad", integer::decode_product_sum},
      {"sad", integer::decode_distance},
      {"div", [](Decoding& d, Type t) { integer::decode_binary(d, t, integer::binary<integer::divide>(t)); }},
      {"rem", [](Decoding& d, Type t) { integer::decode_binary(d, t, integer::binary<integer::remainder>(t)); }},
      {"min", [](Decoding& d, Type t) { integer::decode_binary(d, t, integer::binary<integer::least>(t)); }},
      {"max", [](Decoding& d, Type t) { integer::decode_binary(d, t, integer::binary<integer::largest>(t)); }},
      {"abs", [](Decoding& d, Type t) { integer::decode_unary(d, t, integer::unary<integer::absolute>(t)); }},
      {"neg", [](Decoding& d, Type t) { integer::decode_unary(d, t, integer::unary<integer::negate>(t)); }}};
  require(type.kind != Type::Kind::bits, "it counts with integers, and not with bits");
  const auto found = decoders.find(decoding.opcode());
  require(found != decoders.end(), "the interpreter does not know it for integers");
  found->second(decoding, type);
}

}  // namespace trigram::ptx
