// Rules of kernels/rules on device memory: one launch over all vectors, in accesses of 16 bytes where addresses allow
// it.
#pragma once

#include "kernels/cuda/groups.hpp"
#include "kernels/cuda/rule_by_lines.hpp"
#include "kernels/cuda/rule_on_parts.hpp"
#include "kernels/rule.hpp"

namespace trigram {
namespace cuda {

/// A rule over vectors of T, for run_over. Where `OneFirst`, the rule's first operand is `one` for all elements.
template <class T, class Rule, bool OneFirst>
struct OverVectors {
  static constexpr int width = Pack<T>::count;
  static constexpr int operands = static_cast<int>(TakenBy<Rule>::operands.size());
  static constexpr int first = OneFirst ? 1 : 0;
  static constexpr int vectors = operands - first;
  T* at[vectors];
  Rule rule;
  float one;

  template <int N>
  struct Held {
    T x[vectors][N];
  };
  template <int N>
  __device__ void load(std::int64_t i, Held<N>& held) const {
#pragma unroll
    for (int v = 0; v < vectors; ++v) read<N>(at[v] + i, held.x[v]);
  }
  template <int N>
  __device__ void finish(std::int64_t i, Held<N>& held) const {
#pragma unroll
    for (int j = 0; j < N; ++j) change<N>(j, held);
#pragma unroll
    for (int v = 0; v < vectors; ++v) {
      if (changes<Rule>(v + first)) write<N>(held.x[v], at[v] + i);
    }
  }
  template <int N>
  __device__ __forceinline__ void change(int j, Held<N>& held) const {
    ComputedIn<Rule> element[operands];
    if constexpr (OneFirst) element[0] = one;
#pragma unroll
    for (int v = 0; v < vectors; ++v) element[v + first] = loaded<ComputedIn<Rule>>(held.x[v][j]);
    call_rule(rule, element);
#pragma unroll
    for (int v = 0; v < vectors; ++v) {
      if (changes<Rule>(v + first)) keep(element[v + first], held.x[v][j]);
    }
  }
};

/// The same with the number for all still in the device's memory, which each thread reads once.
template <class T, class Rule>
struct OverVectorsByOneAt {
  static constexpr int width = Pack<T>::count;
  const float* address;
  OverVectors<T, Rule, true> over;

  __device__ OverVectors<T, Rule, true> prepared() const {
    OverVectors<T, Rule, true> ready = over;
    ready.one = *address;
    return ready;
  }
};

template <class T>
bool all_wide(const Buffer* begin, const Buffer* end) {
  return std::all_of(begin, end, [](const Buffer& x) { return is_aligned(x.data<T>(), 16); });
}

template <class T, class Rule, bool OneFirst>
OverVectors<T, Rule, OneFirst> over_vectors(const Rule& rule, std::span<const Buffer> operands) {
  OverVectors<T, Rule, OneFirst> over{{}, rule, 0.0F};
  for (int v = 0; v < over.vectors; ++v)
    over.at[v] = operands[static_cast<std::size_t>(v + over.first)].template data<T>();
  return over;
}

template <class Rule>
void run_rule_on_vectors(const char* operation, const CudaKernels& kernels, const Rule& rule,
                         std::span<const Buffer> operands) {
  constexpr Operand first = TakenBy<Rule>::operands[0];
  const std::int64_t count = operands.back().count();
  with_elements_of<Rule>(operands.back().dtype(), [&]<class T>(std::type_identity<T>) {
    const Buffer* const begin = operands.data();
    const Buffer* const end = begin + operands.size();
    if constexpr (first == Operand::one || first == Operand::one_or_all) {
      if (first == Operand::one || (operands[0].count() == 1 && operands[0].dtype() == DType::f32)) {
        const OverVectorsByOneAt<T, Rule> over{operands[0].data<float>(), over_vectors<T, Rule, true>(rule, operands)};
        return run_over(operation, kernels, over, count, all_wide<T>(begin + 1, end));
      }
    }
    if constexpr (first != Operand::one)
      run_over(operation, kernels, over_vectors<T, Rule, false>(rule, operands), count, all_wide<T>(begin, end));
  });
}

}  // namespace cuda

inline constexpr const char* compiled_for = "cuda";

template <class Rule>
void run_rule(const char* operation, Kernels& kernels, const Rule& rule, std::span<const Buffer> operands) {
  if constexpr (goes_in_parts<Rule>) {
    const RulePart part{operands};
    cuda::run_rule_on_parts(operation, cuda::cuda_of(kernels), rule, rule, std::span<const RulePart>(&part, 1));
  } else {
    cuda::run_rule_on_vectors(operation, cuda::cuda_of(kernels), rule, operands);
  }
}

template <class Rule>
void run_rule_on_parts(const char* operation, Kernels& kernels, const Rule& first, const Rule& second,
                       std::span<const RulePart> parts) {
  if constexpr (goes_in_parts<Rule>) {
    cuda::run_rule_on_parts(operation, cuda::cuda_of(kernels), first, second, parts);
  } else {
    for (const RulePart& part : parts) run_rule(operation, kernels, part.takes_second ? second : first, part.operands);
  }
}

template <class Rule>
void run_rule_by_lines(const char* operation, Kernels& kernels, const Rule& rule, Lines lines, Buffer factors,
                       Buffer matrix) {
  cuda::run_rule_by_lines(operation, cuda::cuda_of(kernels), rule, lines, factors, matrix);
}

}  // namespace trigram
