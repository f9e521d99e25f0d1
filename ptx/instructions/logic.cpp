// Logic and shifts of whole words, lane by lane or for all lanes' predicates at once.
#include "core/values/error.hpp"
#include "ptx/execution/lanes.hpp"
#include "ptx/instructions/bits.hpp"
#include "ptx/instructions/choose.hpp"

namespace trigram::ptx {

namespace logic {

constexpr auto conjunction = [](auto a, auto b) { return a & b; };
constexpr auto disjunction = [](auto a, auto b) { return a | b; };
constexpr auto difference = [](auto a, auto b) { return a ^ b; };
constexpr auto complement = [](auto a) { return ~a; };
constexpr auto is_zero = [](auto a) { return a == 0; };

template <auto function>
void of_predicates(Lanes& lanes, const Instruction& i) {
  lanes.set_predicate(i.operands[0], function(lanes.predicate(i.operands[1]), lanes.predicate(i.operands[2])));
}

void complement_of_predicate(Lanes& lanes, const Instruction& i) {
  lanes.set_predicate(i.operands[0], ~lanes.predicate(i.operands[1]));
}

template <auto function>
void decode_binary(Decoding& d, Type type) {
  d.instruction().handler =
      type == predicate_type ? of_predicates<function>
                             : for_bits(type.bytes, []<class T>() -> Handler { return each_lane<function, T, T, T>; });
  d.destination(type);
  d.sources({type, type});
}

template <auto function>
Handler unary(Type type) {
  return for_bits(type.bytes, []<class T>() -> Handler { return each_lane<function, T, T>; });
}

/// A shift by more than all bits is one by all of them.
constexpr auto left = []<class T>(T a, std::uint32_t by) {
  return by < 8 * sizeof(T) ? static_cast<T>(a << by) : T{0};
};
constexpr auto right = []<class T>(T a, std::uint32_t by) {
  constexpr std::uint32_t bits = 8 * sizeof(T);
  if (by < bits) return static_cast<T>(a >> by);
  return a < 0 ? static_cast<T>(-1) : T{0};
};

}  // namespace logic

void decode_logic(Decoding& d) {
  const Type type = d.take_type();
  require(type.kind == Type::Kind::bits || (type == predicate_type && d.opcode() != "cnot"), "it combines bits");
  if (d.opcode() == "and") return logic::decode_binary<logic::conjunction>(d, type);
  if (d.opcode() == "or") return logic::decode_binary<logic::disjunction>(d, type);
  if (d.opcode() == "xor") return logic::decode_binary<logic::difference>(d, type);
  d.instruction().handler = type == predicate_type ? logic::complement_of_predicate
                            : d.opcode() == "cnot" ? logic::unary<logic::is_zero>(type)
                                                   : logic::unary<logic::complement>(type);
  d.destination(type);
  d.source(type);
}

void decode_shift(Decoding& d) {
  const Type type = d.take_type();
  const bool to_left = d.opcode() == "shl";
  require(!to_left || type.kind == Type::Kind::bits, "it shifts bits");
  d.instruction().handler = for_integer(type, [&]<class T>() -> Handler {
    return to_left ? each_lane<logic::left, T, T, std::uint32_t> : each_lane<logic::right, T, T, std::uint32_t>;
  });
  d.destination(type);
  d.sources({type, bits32});
}

}  // namespace trigram::ptx
