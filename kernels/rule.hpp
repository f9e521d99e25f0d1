// How a file of kernels/rules says what becomes of one element. A rule is a struct whose members are the numbers that
// each call gives, f32 or i64, with
//   static constexpr double flops                  operations of one element, for the model of time
//   TRIGRAM_RULE void operator()(…) const          what becomes of it
// The parameters of the operator say how each vector is used: float is read, float& changed, One a single f32 in the
// device's memory, OneOrAll that or each element; std::int64_t& is changed, of whole numbers. The last is changed, and
// a factor for all stands first. What is computed in float is rounded once to a vector's f16 or bf16; a rule that says
// `static constexpr bool f32_only = true` is compiled for f32 alone, one that says `in_parts = true` for many vectors
// in one launch.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "core/device/rule.hpp"
#include "core/registry/registry.hpp"
#include "kernels/element_types.hpp"
#include "kernels/scalar.hpp"

namespace trigram {

struct One {
  float value;
  TRIGRAM_RULE explicit One(float x) : value(x) {}
  TRIGRAM_RULE operator float() const { return value; }  // NOLINT(google-explicit-constructor): it is that number
};
struct OneOrAll : One {
  using One::One;
};

template <class Parameter>
inline constexpr bool is_changed = std::is_reference_v<Parameter>;

template <class Parameter>
constexpr Operand operand_of() {
  if (is_changed<Parameter>) return Operand::changed;
  if (std::is_same_v<Parameter, One>) return Operand::one;
  return std::is_same_v<Parameter, OneOrAll> ? Operand::one_or_all : Operand::read;
}

/// What the operator of a rule takes.
template <class... Parameters>
struct Taken {
  static constexpr std::array<Operand, sizeof...(Parameters)> operands{operand_of<Parameters>()...};
  static constexpr bool whole = (std::is_same_v<Parameters, std::int64_t&> || ...);
  /// A bit for each that is changed, which code for GPUs can ask for.
  static constexpr unsigned changed = [] {
    unsigned bits = 0, place = 0;
    ((bits |= (is_changed<Parameters> ? 1U : 0U) << place++), ...);
    return bits;
  }();

  static_assert(operands.back() == Operand::changed);
};
template <class Rule, class... Parameters>
Taken<Parameters...> taken(void (Rule::*)(Parameters...) const);
template <class Rule>
using TakenBy = decltype(taken(&Rule::operator()));

template <class Rule>
TRIGRAM_RULE constexpr bool changes(int operand) {
  return (TakenBy<Rule>::changed >> static_cast<unsigned>(operand) & 1U) != 0;
}

template <class Rule>
constexpr ElementTypes types_of() {
  if constexpr (TakenBy<Rule>::whole) {
    return ElementTypes::whole;
  } else {
    return requires { Rule::f32_only; }
    ? ElementTypes::f32 : ElementTypes::floating;
  }
}

/// Calls body(std::type_identity<T>()) with the element type of a dtype that the rule is compiled for.
template <class Rule, class Body>
void with_elements_of(DType dtype, const Body& body) {
  if constexpr (types_of<Rule>() == ElementTypes::whole) {
    with_whole(dtype, body);
  } else if constexpr (types_of<Rule>() == ElementTypes::f32) {
    body(std::type_identity<float>());
  } else {
    with_floating(dtype, body);
  }
}

/// A number on its way to a member of a rule.
struct Scalar {
  double value;
  template <class Member>
  requires std::is_arithmetic_v<Member>
  operator Member() const {  // NOLINT(google-explicit-constructor): the member says what it becomes
    return static_cast<Member>(value);
  }
};
/// How many members a rule has.
template <class Rule, class... Scalars>
constexpr std::size_t scalars_of() {
  if constexpr (requires { Rule{Scalars{}..., Scalar{}}; }) {
    return scalars_of<Rule, Scalars..., Scalar>();
  } else {
    return sizeof...(Scalars);
  }
}
/// The rule with these numbers as its members.
template <class Rule>
Rule rule_with(std::span<const double> scalars) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) { return Rule{Scalar{scalars[I]}...}; }
  (std::make_index_sequence<scalars_of<Rule>()>());
}

/// Whether a factor for each row or column can take the place of the first vector.
template <class Rule>
inline constexpr bool goes_by_lines =
    TakenBy<Rule>::operands.size() == 2 && TakenBy<Rule>::operands[0] == Operand::one_or_all;

/// Whether it is compiled for many vectors in one launch.
template <class Rule>
inline constexpr bool goes_in_parts = requires {
  Rule::in_parts;
};

/// What a rule computes in: a vector's elements as they are where they are whole, else f32.
template <class Rule>
using ComputedIn = std::conditional_t<TakenBy<Rule>::whole, std::int64_t, float>;

template <class Number, class T>
TRIGRAM_RULE Number loaded(const T& from) {
  if constexpr (std::is_integral_v<T>) {
    return from;
  } else {
    return scalar::to_f32(from);
  }
}
template <class Number, class T>
TRIGRAM_RULE void keep(Number number, T& to) {
  if constexpr (std::is_integral_v<T>) {
    to = static_cast<T>(number);
  } else {
    scalar::store(number, to);
  }
}

/// Calls a rule on one element of each vector; what it changes stays in `element`.
template <class Rule, class Number, class... Parameters, std::size_t... I>
TRIGRAM_RULE void call_rule(const Rule& rule, Number (&element)[sizeof...(Parameters)], Taken<Parameters...>,
                            std::index_sequence<I...>) {
  rule(static_cast<Parameters>(element[I])...);
}
template <class Rule, class Number, std::size_t N>
TRIGRAM_RULE void call_rule(const Rule& rule, Number (&element)[N]) {
  call_rule(rule, element, TakenBy<Rule>(), std::make_index_sequence<N>());
}

}  // namespace trigram
