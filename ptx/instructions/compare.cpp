#include "ptx/instructions/compare.hpp"

#include <array>

#include "core/values/error.hpp"
#include "ptx/execution/lanes.hpp"
#include "ptx/instructions/choose.hpp"
#include "ptx/instructions/conversion/float_values.hpp"
#include "ptx/reader/texts.hpp"

namespace trigram::ptx {

namespace compare {

constexpr auto equal = [](auto a, auto b) { return a == b; };
constexpr auto less = [](auto a, auto b) { return a < b; };
constexpr auto less_or_equal = [](auto a, auto b) { return a <= b; };
constexpr auto greater = [](auto a, auto b) { return a > b; };
constexpr auto greater_or_equal = [](auto a, auto b) { return a >= b; };
constexpr auto ordered_unequal = [](auto a, auto b) { return a < b || a > b; };
constexpr auto ordered = [](auto a, auto b) { return a == a && b == b; };
/// True where one of the two is NaN, too.
template <auto contrary>
constexpr auto unless = [](auto a, auto b) { return !contrary(a, b); };

/// The lanes in which a comparison holds.
template <auto holds, bool flushes, class T>
std::uint32_t compared(const T* a, const T* b) {
  std::uint32_t lanes = 0;
  for (std::uint32_t lane = 0; lane < lanes_of_warp; ++lane) {
    bool here;
    if constexpr (flushes) {
      here = holds(flushed<true>(a[lane]), flushed<true>(b[lane]));
    } else {
      here = holds(a[lane], b[lane]);
    }
    lanes |= std::uint32_t{here} << lane;
  }
  return lanes;
}

enum class Combination { none, conjunction, disjunction, difference };

template <Combination combination>
std::uint32_t combined(std::uint32_t lanes, std::uint32_t with) {
  if constexpr (combination == Combination::conjunction) return lanes & with;
  if constexpr (combination == Combination::disjunction) return lanes | with;
  return lanes ^ with;
}

/// Operands: the predicate and its contrary's, what is compared, and the predicate to combine with.
template <auto holds, bool flushes, Combination combination, class T>
void set_predicates(Lanes& lanes, const Instruction& i) {
  const std::uint32_t held = compared<holds, flushes>(lanes.values<T>(i.operands[2]), lanes.values<T>(i.operands[3]));
  if constexpr (combination == Combination::none) {
    lanes.set_predicate(i.operands[0], held);
    lanes.set_predicate(i.operands[1], ~held);
  } else {
    const std::uint32_t with = lanes.predicate(i.operands[4]);
    lanes.set_predicate(i.operands[0], combined<combination>(held, with));
    lanes.set_predicate(i.operands[1], combined<combination>(~held, with));
  }
}

template <auto holds, bool flushes, class T>
Handler with_combination(Combination combination) {
  switch (combination) {
    case Combination::conjunction:
      return set_predicates<holds, flushes, Combination::conjunction, T>;
    case Combination::disjunction:
      return set_predicates<holds, flushes, Combination::disjunction, T>;
    case Combination::difference:
      return set_predicates<holds, flushes, Combination::difference, T>;
    default:
      return set_predicates<holds, flushes, Combination::none, T>;
  }
}

struct Form {
  Type type;
  bool flushes;
  Combination combination;
};

template <auto holds>
Handler of_integers(Form form) {
  return for_integer(form.type, [&]<class T>() { return with_combination<holds, false, T>(form.combination); });
}

template <auto holds>
Handler of_floats(Form form) {
  if (form.flushes) return with_combination<holds, true, float>(form.combination);
  return for_float(form.type, [&]<class T>() { return with_combination<holds, false, T>(form.combination); });
}

/// lo, ls, hi and hs are words for comparisons without sign.
Handler integer_handler(Decoding& d, Form form) {
  using Choose = Handler (*)(Form);
  constexpr std::array<Choose, 10> handlers = {
      of_integers<equal>,   of_integers<unless<equal>>,    of_integers<less>, of_integers<less_or_equal>,
      of_integers<greater>, of_integers<greater_or_equal>, of_integers<less>, of_integers<less_or_equal>,
      of_integers<greater>, of_integers<greater_or_equal>};
  const std::size_t which = d.take_one({"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs"});
  require(form.type.kind != Type::Kind::bits || which < 2, "bits are equal or not");
  require(form.type.kind != Type::Kind::integer || which < 6, "it compares without a sign");
  return handlers[which](form);
}

Handler float_handler(Decoding& d, Form form) {
  using Choose = Handler (*)(Form);
  constexpr std::array<Choose, 14> handlers = {of_floats<equal>,
                                               of_floats<ordered_unequal>,
                                               of_floats<less>,
                                               of_floats<less_or_equal>,
                                               of_floats<greater>,
                                               of_floats<greater_or_equal>,
                                               of_floats<unless<ordered_unequal>>,
                                               of_floats<unless<equal>>,
                                               of_floats<unless<greater_or_equal>>,
                                               of_floats<unless<greater>>,
                                               of_floats<unless<less_or_equal>>,
                                               of_floats<unless<less>>,
                                               of_floats<ordered>,
                                               of_floats<unless<ordered>>};
  return handlers[d.take_one(
      {"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"})](form);
}

void take_destinations(Decoding& d) {
  const auto both = split_operands(d.take_text(), '|');
  require(both.size() <= 2, "it sets one predicate or two");
  d.destination_from(both[0], predicate_type, false);
  d.destination_from(both.size() == 2 ? both[1] : "_", predicate_type, false);
}

template <class T>
void choose_by_predicate(Lanes& lanes, const Instruction& i) {
  const std::uint32_t chosen = lanes.predicate(i.operands[3]);
  over(lanes.active,
       [to = lanes.values<T>(i.operands[0]), a = lanes.values<T>(i.operands[1]), b = lanes.values<T>(i.operands[2]),
        chosen](std::uint32_t lane) { to[lane] = (chosen >> lane & 1) != 0 ? a[lane] : b[lane]; });
}

}  // namespace compare

void decode_compare(Decoding& d) {
  using namespace compare;
  const Type type = d.take_type();
  Form form{.type = type, .flushes = type == f32_type && d.take("ftz"), .combination = Combination::none};
  if (const auto with = d.take_any({"and", "or", "xor"})) form.combination = static_cast<Combination>(*with + 1);
  d.instruction().handler = is_integer(type) ? integer_handler(d, form) : float_handler(d, form);
  take_destinations(d);
  d.sources({type, type});
  if (form.combination != Combination::none) d.source(predicate_type);
}

void decode_select(Decoding& d) {
  const Type type = d.take_type();
  d.instruction().handler = for_bits(type.bytes, []<class T>() -> Handler { return compare::choose_by_predicate<T>; });
  d.destination(type);
  d.sources({type, type, predicate_type});
}

}  // namespace trigram::ptx
