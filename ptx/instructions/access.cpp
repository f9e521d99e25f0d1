#include "ptx/instructions/access.hpp"

#include <array>
#include <cstring>
#include <type_traits>

#include "core/values/error.hpp"
#include "ptx/instructions/located.hpp"
#include "ptx/store_buffer.hpp"

namespace trigram::ptx {

namespace access {

/// Loads vectors of T into registers of the size of Register, which keeps the sign of a smaller integer.
template <class T, class Register, Space space>
void load(Lanes& lanes, const Instruction& i) {
  const std::uint32_t elements = i.operand_count - 1U;
  const Operand& address = i.operands[elements];
  const Located located =
      locate(lanes, i, {address, space, Access::read, static_cast<std::uint32_t>(elements * sizeof(T))});
  for (std::uint32_t e = 0; e < elements; ++e) {
    over(lanes.active, [&, to = lanes.values<Register>(i.operands[e])](std::uint32_t lane) {
      T value;
      std::memcpy(&value, located[lane] + e * sizeof(T), sizeof value);
      to[lane] = static_cast<Register>(value);
    });
  }
}

template <class T, class Register, Space space>
void store(Lanes& lanes, const Instruction& i) {
  const std::uint32_t elements = i.operand_count - 1U;
  const Located located =
      locate(lanes, i, {i.operands[0], space, Access::write, static_cast<std::uint32_t>(elements * sizeof(T))});
  for (std::uint32_t e = 0; e < elements; ++e) {
    over(lanes.active, [&, from = lanes.values<Register>(i.operands[1 + e])](std::uint32_t lane) {
      const T value = static_cast<T>(from[lane]);
      std::memcpy(located[lane] + e * sizeof(T), &value, sizeof value);
    });
  }
  if (lanes.stores != nullptr) [[unlikely]]
    lanes.stores->keep();
}

template <class T, class Register, Space space>
struct Load {
  static constexpr Handler handler = load<T, Register, space>;
};
template <class T, class Register, Space space>
struct Store {
  static constexpr Handler handler = store<T, Register, space>;
};

template <template <class, class, Space> class Kind, class T, class Register>
Handler in_space(Space space) {
  constexpr std::array<Handler, 5> handlers = {
      Kind<T, Register, Space::generic>::handler, Kind<T, Register, Space::global>::handler,
      Kind<T, Register, Space::shared>::handler, Kind<T, Register, Space::local>::handler,
      Kind<T, Register, Space::parameters>::handler};
  return handlers[static_cast<std::size_t>(space)];
}

template <class Small, class Large>
using WithSignOf = std::conditional_t<std::is_signed_v<Small>, std::make_signed_t<Large>, Large>;

template <template <class, class, Space> class Kind, class T>
Handler into_register(std::uint8_t bytes, Space space) {
  if constexpr (sizeof(T) <= 2) {
    if (bytes == 2) return in_space<Kind, T, WithSignOf<T, std::uint16_t>>(space);
  }
  if constexpr (sizeof(T) <= 4) {
    if (bytes == 4) return in_space<Kind, T, WithSignOf<T, std::uint32_t>>(space);
  }
  return in_space<Kind, T, WithSignOf<T, std::uint64_t>>(space);
}

/// What has no sign is moved as bits.
template <template <class, class, Space> class Kind>
Handler handler_of(Type type, std::uint8_t register_bytes, Space space) {
  const bool has_sign = type.kind == Type::Kind::integer;
  switch (type.bytes) {
    case 1:
      return has_sign ? into_register<Kind, std::int8_t>(register_bytes, space)
                      : into_register<Kind, std::uint8_t>(register_bytes, space);
    case 2:
      return has_sign ? into_register<Kind, std::int16_t>(register_bytes, space)
                      : into_register<Kind, std::uint16_t>(register_bytes, space);
    case 4:
      return has_sign ? into_register<Kind, std::int32_t>(register_bytes, space)
                      : into_register<Kind, std::uint32_t>(register_bytes, space);
    case 8:
      return into_register<Kind, std::uint64_t>(register_bytes, space);
    default:
      return nullptr;
  }
}

/// Takes what says how an access is ordered or cached. The interpreter gives it no more order than others have.
void take_ordering(Decoding& d) {
  d.instruction().is_strong = d.take_any({"volatile", "relaxed", "acquire", "release"}).has_value();
  d.take("weak");
  d.take_any({"cta", "cluster", "gpu", "sys"});
  d.take_any({"ca", "cg", "cs", "lu", "cv", "wb", "wt"});
  d.take_any({"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last", "L1::no_allocate"});
  d.take_any({"L2::64B", "L2::128B", "L2::256B"});
}

Space take_space(Decoding& d) {
  constexpr std::array<Space, 6> spaces = {Space::global,     Space::shared, Space::local,
                                           Space::parameters, Space::shared, Space::parameters};
  const auto taken = d.take_any({"global", "shared", "local", "param", "shared::cta", "param::entry"});
  return taken ? spaces[*taken] : Space::generic;
}

/// How many elements the modifier of a vector announces.
std::size_t take_length(Decoding& d) {
  constexpr std::array<std::size_t, 3> lengths = {2, 4, 8};
  const auto taken = d.take_any({"v2", "v4", "v8"});
  return taken ? lengths[*taken] : 1;
}

/// The registers of a vector are of one size.
std::uint8_t size_of_registers(const Instruction& i, std::size_t first, std::size_t elements) {
  const std::uint8_t bytes = i.operands[first].bytes;
  for (std::size_t e = 0; e < elements; ++e) {
    require(i.operands[first + e].bytes == bytes, "the registers of its vector differ in size");
  }
  return bytes;
}

}  // namespace access

void decode_load(Decoding& d) {
  access::take_ordering(d);
  const Space space = access::take_space(d);
  const bool is_constant = d.take("nc");
  require(!is_constant || space == Space::global, ".nc reads global memory");
  const std::size_t length = access::take_length(d);
  const Type type = d.take_type();
  require(d.destination_elements(d.take_text(), type, true) == length, "its vector has another length than it says");
  d.address();
  const std::uint8_t bytes = access::size_of_registers(d.instruction(), 0, length);
  d.instruction().handler = access::handler_of<access::Load>(type, bytes, space);
}

void decode_store(Decoding& d) {
  access::take_ordering(d);
  const Space space = access::take_space(d);
  const std::size_t length = access::take_length(d);
  const Type type = d.take_type();
  d.address();
  require(d.source_elements(d.take_text(), type, true) == length, "its vector has another length than it says");
  const std::uint8_t bytes = access::size_of_registers(d.instruction(), 1, length);
  d.instruction().handler = access::handler_of<access::Store>(type, bytes, space);
}

}  // namespace trigram::ptx
