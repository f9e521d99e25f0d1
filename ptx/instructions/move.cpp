#include "ptx/instructions/move.hpp"

#include <algorithm>
#include <array>

#include "core/values/error.hpp"
#include "ptx/address_space.hpp"
#include "ptx/execution/lanes.hpp"
#include "ptx/instructions/choose.hpp"

namespace trigram::ptx {

namespace move {

constexpr auto same = [](auto a) { return a; };

void predicate(Lanes& lanes, const Instruction& i) {
  lanes.set_predicate(i.operands[0], lanes.predicate(i.operands[1]));
}

/// The first part is the lowest.
template <class Whole, class Part>
void pack(Lanes& lanes, const Instruction& i) {
  constexpr std::size_t parts = sizeof(Whole) / sizeof(Part);
  std::array<const Part*, parts> from;
  for (std::size_t part = 0; part < parts; ++part) from[part] = lanes.values<Part>(i.operands[1 + part]);
  over(lanes.active, [&, to = lanes.values<Whole>(i.operands[0])](std::uint32_t lane) {
    Whole whole = 0;
    for (std::size_t part = 0; part < parts; ++part)
      whole |= static_cast<Whole>(from[part][lane]) << 8 * sizeof(Part) * part;
    to[lane] = whole;
  });
}

template <class Whole, class Part>
void unpack(Lanes& lanes, const Instruction& i) {
  constexpr std::size_t parts = sizeof(Whole) / sizeof(Part);
  std::array<Part*, parts> to;
  for (std::size_t part = 0; part < parts; ++part) to[part] = lanes.values<Part>(i.operands[part]);
  over(lanes.active, [&, from = lanes.values<Whole>(i.operands[parts])](std::uint32_t lane) {
    const Whole whole = from[lane];
    for (std::size_t part = 0; part < parts; ++part)
      to[part][lane] = static_cast<Part>(whole >> 8 * sizeof(Part) * part);
  });
}

struct Forms {
  Handler pack, unpack;
};

template <class Whole, class Part>
constexpr Forms forms{pack<Whole, Part>, unpack<Whole, Part>};

Forms forms_of(std::size_t whole, std::size_t parts) {
  if (whole == 4 && parts == 2) return forms<std::uint32_t, std::uint16_t>;
  if (whole == 8 && parts == 2) return forms<std::uint64_t, std::uint32_t>;
  if (whole == 8 && parts == 4) return forms<std::uint64_t, std::uint16_t>;
  throw UsageError("it moves two parts of 16 or 32 bits, or four of 16");
}

Type part_of(Type whole, std::string_view vector) {
  const std::size_t parts = 1 + static_cast<std::size_t>(std::count(vector.begin(), vector.end(), ','));
  forms_of(whole.bytes, parts);
  return {Type::Kind::bits, static_cast<std::uint8_t>(whole.bytes / parts)};
}

void decode_pack(Decoding& d, Type type, std::string_view to, std::string_view vector) {
  d.destination_from(to, type, false);
  const std::size_t parts = d.source_elements(vector, part_of(type, vector), false);
  d.instruction().handler = forms_of(type.bytes, parts).pack;
}

void decode_unpack(Decoding& d, Type type, std::string_view vector, std::string_view from) {
  const std::size_t parts = d.destination_elements(vector, part_of(type, vector), false);
  d.source_from(from, type, false);
  d.instruction().handler = forms_of(type.bytes, parts).unpack;
}

constexpr auto subtract = [](std::uint64_t a, std::uint64_t b) { return a - b; };
constexpr auto add = [](std::uint64_t a, std::uint64_t b) { return a + b; };

}  // namespace move

void decode_move(Decoding& d) {
  const Type type = d.take_type();
  const std::string_view to = d.take_text(), from = d.take_text();
  if (from.starts_with('{')) return move::decode_pack(d, type, to, from);
  if (to.starts_with('{')) return move::decode_unpack(d, type, to, from);
  d.destination_from(to, type, false);
  d.source_from(from, type, false);
  d.instruction().handler =
      type == predicate_type ? move::predicate
                             : for_bits(type.bytes, []<class T>() -> Handler { return each_lane<move::same, T, T>; });
}

void decode_convert_address(Decoding& d) {
  const bool from_generic = d.take("to");
  constexpr std::array<Space, 4> spaces = {Space::global, Space::shared, Space::local, Space::parameters};
  const Space space = spaces[d.take_one({"global", "shared", "local", "param"})];
  const Type type = d.take_type();
  require(type == Type{Type::Kind::whole, 8}, "addresses that name their space have 64 bits");
  d.destination(type);
  d.source(type);
  d.append_constant(window_of(space), type);
  using Address = std::uint64_t;
  d.instruction().handler = from_generic ? each_lane<move::subtract, Address, Address, Address>
                                         : each_lane<move::add, Address, Address, Address>;
}

}  // namespace trigram::ptx
