// A rule as the kind of device computes it for which this is compiled: files of kernels/rules are compiled once for
// each.
#pragma once

#include <memory>
#include <string>

#ifdef TRIGRAM_RULES_FOR_CUDA
#include "kernels/cuda/elementwise.hpp"
#else
#include "kernels/cpu/elementwise.hpp"
#endif

namespace trigram {

template <class Step>
class Elementwise final : public Rule {
 public:
  /// A static object of this type in the rule's file registers it for that kind of device; `summary` is one line.
  struct Registration {
    Registration(const char* name, const char* summary)
        : registered(std::string(compiled_for) + "/" + name, {summary},
                     [name](Params&) { return std::make_unique<Elementwise>(name); }) {}
    Registry<Rule>::Registration registered;
  };

  explicit Elementwise(const char* name)
      : Rule({name, TakenBy<Step>::operands, scalars_of<Step>(), types_of<Step>(), Step::flops}) {}

  void run(Kernels& kernels, std::span<const double> scalars, std::span<const Buffer> operands) const override {
    run_rule(shape().name, kernels, rule_with<Step>(scalars), operands);
  }
  void run_parts(Kernels& kernels, const TwoScalars& scalars, std::span<const RulePart> parts) const override {
    run_rule_on_parts(shape().name, kernels, rule_with<Step>(scalars.first), rule_with<Step>(scalars.second), parts);
  }
  void run_by_lines(Kernels& kernels, Lines lines, Buffer factors, Buffer matrix) const override {
    if constexpr (goes_by_lines<Step>) {
      run_rule_by_lines(shape().name, kernels, Step{}, lines, factors, matrix);
    } else {
      throw Error(std::string(shape().name) + " has no factor for each row or column");
    }
  }
};

}  // namespace trigram
