// Rules of kernels/rules on host memory: one loop over all vectors.
#pragma once

#include "kernels/cpu/kernels.hpp"
#include "kernels/rule.hpp"

namespace trigram {

inline constexpr const char* compiled_for = "cpu";

/// Elements one after the other.
template <class T>
struct AllOf {
  T* at;
  template <class Number>
  TRIGRAM_RULE Number get(std::int64_t i) const {
    return loaded<Number>(at[i]);
  }
  template <class Number>
  TRIGRAM_RULE void put(std::int64_t i, Number number) const {
    keep(number, at[i]);
  }
};
/// One that stands for all.
struct OneForAll {
  float value;
  template <class Number>
  TRIGRAM_RULE Number get(std::int64_t) const {
    return value;
  }
  template <class Number>
  TRIGRAM_RULE void put(std::int64_t, Number) const {}
};

/// Element i of each vector.
template <class Rule, std::size_t... Operands, class... Vectors>
TRIGRAM_RULE void change_element(const Rule& rule, std::int64_t i, std::index_sequence<Operands...>,
                                 const Vectors&... vectors) {
  using Number = ComputedIn<Rule>;
  Number element[] = {vectors.template get<Number>(i)...};
  call_rule(rule, element);
  const auto finish = [i, &element]<std::size_t Place>(std::integral_constant<std::size_t, Place>, const auto& vector)
                          TRIGRAM_INLINE {
                            if constexpr (changes<Rule>(Place)) vector.put(i, element[Place]);
                          };
  (finish(std::integral_constant<std::size_t, Operands>(), vectors), ...);
}

template <class Rule, class... Vectors>
void go_over(Instructions instructions, const Rule& rule, std::int64_t count, Vectors... vectors) {
  vectorised(instructions, [=]() TRIGRAM_INLINE {
    for (std::int64_t i = 0; i < count; ++i) change_element(rule, i, std::index_sequence_for<Vectors...>(), vectors...);
  });
}

template <class Rule>
void run_rule(const char*, Kernels& kernels, const Rule& rule, std::span<const Buffer> operands) {
  constexpr std::size_t others = TakenBy<Rule>::operands.size() - 1;
  constexpr Operand first = TakenBy<Rule>::operands[0];
  const Instructions instructions = instructions_of(kernels);
  const std::int64_t count = operands.back().count();
  with_elements_of<Rule>(operands.back().dtype(), [&]<class T>(std::type_identity<T>) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      if constexpr (first == Operand::one || first == Operand::one_or_all) {
        if (first == Operand::one || (operands[0].count() == 1 && operands[0].dtype() == DType::f32))
          return go_over(instructions, rule, count, OneForAll{*operands[0].data<float>()},
                         AllOf<T>{operands[I + 1].template data<T>()}...);
      }
      if constexpr (first != Operand::one)
        go_over(instructions, rule, count, AllOf<T>{operands[0].data<T>()},
                AllOf<T>{operands[I + 1].template data<T>()}...);
    }
    (std::make_index_sequence<others>());
  });
}

template <class Rule>
void run_rule_on_parts(const char* name, Kernels& kernels, const Rule& first, const Rule& second,
                       std::span<const RulePart> parts) {
  for (const RulePart& part : parts) run_rule(name, kernels, part.takes_second ? second : first, part.operands);
}

template <class Rule>
void run_rule_by_lines(const char*, Kernels& kernels, const Rule& rule, Lines lines, Buffer factors, Buffer matrix) {
  const Instructions instructions = instructions_of(kernels);
  const float* factor = factors.data<float>();
  float* values = matrix.data<float>();
  const std::int64_t other = matrix.count() / factors.count();
  const bool by_rows = lines == Lines::rows;
  const std::int64_t rows = by_rows ? factors.count() : other, columns = by_rows ? other : factors.count();
  vectorised(instructions, [=]() TRIGRAM_INLINE {
    for (std::int64_t row = 0; row < rows; ++row) {
      const AllOf<float> of_row{values + row * columns};
      if (by_rows) {
        for (std::int64_t i = 0; i < columns; ++i)
          change_element(rule, i, std::index_sequence<0, 1>(), OneForAll{factor[row]}, of_row);
      } else {
        for (std::int64_t i = 0; i < columns; ++i)
          change_element(rule, i, std::index_sequence<0, 1>(), AllOf<const float>{factor}, of_row);
      }
    }
  });
}

}  // namespace trigram
