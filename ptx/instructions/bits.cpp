#include "ptx/instructions/bits.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <type_traits>

#include "core/values/error.hpp"
#include "ptx/execution/lanes.hpp"
#include "ptx/instructions/choose.hpp"
#include "ptx/reader/texts.hpp"

namespace trigram::ptx {

namespace bits {

constexpr auto ones = []<class T>(T a) { return static_cast<std::uint32_t>(std::popcount(a)); };
constexpr auto leading_zeros = []<class T>(T a) { return static_cast<std::uint32_t>(std::countl_zero(a)); };

/// The place of the highest bit that differs from the sign's, or of the highest one; all bits where there is none.
constexpr auto highest = []<class T>(T a) {
  using Bits = std::make_unsigned_t<T>;
  const Bits b = static_cast<Bits>(a < 0 ? ~a : a);
  return b == 0 ? all_lanes
                : static_cast<std::uint32_t>(8 * sizeof(T) - 1) - static_cast<std::uint32_t>(std::countl_zero(b));
};
/// How far a shift to the left brings that bit to the top.
constexpr auto to_highest = []<class T>(T a) {
  const std::uint32_t place = highest(a);
  return place == all_lanes ? place : static_cast<std::uint32_t>(8 * sizeof(T) - 1) - place;
};

constexpr auto reversed = []<class T>(T a) {
  T result = 0;
  for (std::size_t i = 0; i < 8 * sizeof(T); ++i, a = static_cast<T>(a >> 1))
    result = static_cast<T>((result << 1) | (a & 1));
  return result;
};

/// Position and length of a field count modulo 256; what lies beyond the word is its sign, or 0.
constexpr auto extract = []<class T>(T a, std::uint32_t position, std::uint32_t length) {
  constexpr std::uint32_t size = 8 * sizeof(T);
  const std::uint32_t first = position & 0xFF, count = length & 0xFF;
  if (count == 0) return T{0};
  const T shifted = first < size ? static_cast<T>(a >> first) : a < 0 ? static_cast<T>(-1) : T{0};
  if (count >= size || (first + count >= size && std::is_signed_v<T>)) return shifted;
  const std::uint32_t unused = size - count;
  return static_cast<T>(static_cast<T>(static_cast<std::make_unsigned_t<T>>(shifted) << unused) >> unused);
};

constexpr auto insert = []<class T>(T field, T into, std::uint32_t position, std::uint32_t length) {
  constexpr std::uint32_t size = 8 * sizeof(T);
  const std::uint32_t first = position & 0xFF, count = std::min(length & 0xFF, size);
  if (first >= size || count == 0) return into;
  const T mask = static_cast<T>((count == size ? ~T{0} : (T{1} << count) - 1) << first);
  return static_cast<T>((into & ~mask) | (static_cast<T>(field << first) & mask));
};

/// Bit i of the table is the result where the bits of a, b and c read as i.
constexpr auto by_table = [](std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t table) {
  std::uint32_t result = 0;
  for (std::uint32_t i = 0; i < 8; ++i) {
    const std::uint32_t here = ((i & 4) != 0 ? a : ~a) & ((i & 2) != 0 ? b : ~b) & ((i & 1) != 0 ? c : ~c);
    result |= (table >> i & 1) != 0 ? here : 0;
  }
  return result;
};

template <bool to_left, bool wraps>
constexpr auto funnel = [](std::uint32_t low, std::uint32_t high, std::uint32_t shift) {
  const std::uint32_t by = wraps ? shift & 31 : std::min(shift, 32U);
  const std::uint64_t both = std::uint64_t{high} << 32 | low;
  return static_cast<std::uint32_t>(to_left ? (both << by) >> 32 : both >> by);
};

/// The byte that one hexadecimal digit of a selector names: of eight, or its sign in all bits.
constexpr std::uint32_t selected(std::uint64_t bytes, std::uint32_t digit) {
  const auto byte = static_cast<std::uint8_t>(bytes >> 8 * (digit & 7));
  if ((digit & 8) == 0) return byte;
  return (byte & 0x80) != 0 ? 0xFF : 0;
}

constexpr auto permute = [](std::uint32_t a, std::uint32_t b, std::uint32_t selector) {
  const std::uint64_t both = std::uint64_t{b} << 32 | a;
  std::uint32_t result = 0;
  for (std::uint32_t i = 0; i < 4; ++i) result |= selected(both, selector >> 4 * i & 15) << 8 * i;
  return result;
};

/// The modes of prmt are permutations that two bits of c choose from a table.
template <std::size_t mode>
constexpr auto permute_by_mode = [](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  constexpr std::array<std::array<std::uint32_t, 4>, 6> selectors = {{{0x3210, 0x4321, 0x5432, 0x6543},
                                                                      {0x5670, 0x6701, 0x7012, 0x0123},
                                                                      {0x0000, 0x1111, 0x2222, 0x3333},
                                                                      {0x3210, 0x3211, 0x3222, 0x3333},
                                                                      {0x0000, 0x1110, 0x2210, 0x3210},
                                                                      {0x1010, 0x3232, 0x1010, 0x3232}}};
  return permute(a, b, selectors[mode][c & 3]);
};

template <std::size_t mode>
constexpr Handler mode_handler =
    each_lane<permute_by_mode<mode>, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;

Handler count_handler(const Decoding& d, Type type, bool as_shift) {
  if (d.opcode() == "bfind") {
    return for_integer(type, [&]<class T>() -> Handler {
      return as_shift ? each_lane<to_highest, std::uint32_t, T> : each_lane<highest, std::uint32_t, T>;
    });
  }
  return for_bits(type.bytes, [&]<class T>() -> Handler {
    if (d.opcode() == "brev") return each_lane<reversed, T, T>;
    return d.opcode() == "popc" ? each_lane<ones, std::uint32_t, T> : each_lane<leading_zeros, std::uint32_t, T>;
  });
}

void require_words(Type type) { require(type.bytes >= 4, "it takes 32 or 64 bits"); }

}  // namespace bits

void decode_bit_count(Decoding& d) {
  const bool as_shift = d.opcode() == "bfind" && d.take("shiftamt");
  const Type type = d.take_type();
  bits::require_words(type);
  require((type.kind == Type::Kind::bits) != (d.opcode() == "bfind"), "it takes another kind of type");
  d.instruction().handler = bits::count_handler(d, type, as_shift);
  d.destination(d.opcode() == "brev" ? type : bits32);
  d.source(type);
}

void decode_bit_field(Decoding& d) {
  const Type type = d.take_type();
  bits::require_words(type);
  const bool inserts = d.opcode() == "bfi";
  require((type.kind == Type::Kind::bits) == inserts, "it takes another kind of type");
  d.destination(type);
  d.source(type);
  if (inserts) d.source(type);
  d.sources({bits32, bits32});
  d.instruction().handler = for_integer(type, [&]<class T>() -> Handler {
    if constexpr (std::is_unsigned_v<T>) {
      if (inserts) return each_lane<bits::insert, T, T, T, std::uint32_t, std::uint32_t>;
    }
    return each_lane<bits::extract, T, T, std::uint32_t, std::uint32_t>;
  });
}

void decode_logic_of_three(Decoding& d) {
  using Word = std::uint32_t;
  require(d.take_type() == bits32, "it combines 32 bits");
  d.destination(bits32);
  d.sources({bits32, bits32, bits32, bits32});
  d.instruction().handler = each_lane<bits::by_table, Word, Word, Word, Word, Word>;
}

void decode_funnel_shift(Decoding& d) {
  using Word = std::uint32_t;
  const bool to_left = d.take_one({"l", "r"}) == 0;
  const bool wraps = d.take_one({"clamp", "wrap"}) == 1;
  require(d.take_type() == bits32, "it shifts 32 bits");
  d.destination(bits32);
  d.sources({bits32, bits32, bits32});
  const auto handler = [&]<bool left>() -> Handler {
    return wraps ? each_lane<bits::funnel<left, true>, Word, Word, Word, Word>
                 : each_lane<bits::funnel<left, false>, Word, Word, Word, Word>;
  };
  d.instruction().handler = to_left ? handler.template operator()<true>() : handler.template operator()<false>();
}

void decode_permute(Decoding& d) {
  using Word = std::uint32_t;
  constexpr std::array<Handler, 6> by_mode = {bits::mode_handler<0>, bits::mode_handler<1>, bits::mode_handler<2>,
                                              bits::mode_handler<3>, bits::mode_handler<4>, bits::mode_handler<5>};
  require(d.take_type() == bits32, "it permutes 32 bits");
  const auto mode = d.take_any({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"});
  d.instruction().handler = mode ? by_mode[*mode] : each_lane<bits::permute, Word, Word, Word, Word>;
  d.destination(bits32);
  d.sources({bits32, bits32, bits32});
}

}  // namespace trigram::ptx
