// Elementwise steps: what becomes of each element of some vectors, by itself. A rule is one file of kernels/rules,
// which every kind of device compiles for itself and registers under its name, as "cpu/axpby" and "cuda/axpby".
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/device/kernels.hpp"

namespace trigram {

/// How a rule uses one of its vectors.
enum class Operand : std::uint8_t {
  read,        ///< each element
  changed,     ///< each element is read and written
  one,         ///< a single f32 in the device's memory, for all elements
  one_or_all,  ///< either that or each element, as it is given
};

/// The types of elements that a rule works on. f16 and bf16 are computed in f32 and rounded once.
enum class ElementTypes : std::uint8_t { floating, f32, whole };

/// What calls of a rule look like and cost, the same on every kind of device.
struct RuleShape {
  const char* name;                   ///< without the kind of device: "axpby"
  std::span<const Operand> operands;  ///< the last is changed, and as long as all that are read or changed
  std::size_t scalars = 0;            ///< numbers that each call gives
  ElementTypes types = ElementTypes::floating;
  double flops = 0;  ///< operations of one element
};

/// The numbers of a call in two versions, as with and without weight decay.
struct TwoScalars {
  std::span<const double> first, second;
};
/// One of several parts of a call, with vectors of its own.
struct RulePart {
  std::span<const Buffer> operands;
  bool takes_second = false;  ///< of the numbers
};

/// One rule on one kind of device, without state. Device::apply checks, charges and calls it; its bits are the same on
/// every kind.
class Rule {
 public:
  static constexpr const char* registry_kind = "rule";

  explicit Rule(const RuleShape& shape) : shape_(shape) {}
  virtual ~Rule() = default;
  Rule(const Rule&) = delete;
  Rule& operator=(const Rule&) = delete;

  const RuleShape& shape() const { return shape_; }

  /// Computes it. Operands fit the shape, none is a phantom, and the last is not empty.
  virtual void run(Kernels& kernels, std::span<const double> scalars, std::span<const Buffer> operands) const = 0;
  /// The same for at least one part, in as few launches as their addresses fit.
  virtual void run_parts(Kernels& kernels, const TwoScalars& scalars, std::span<const RulePart> parts) const = 0;
  /// The same where the first operand has one f32 for each row or column of the second, a row-major f32 matrix; neither
  /// is empty. Throws Error where the rule's operands are not one_or_all and changed.
  virtual void run_by_lines(Kernels& kernels, Lines lines, Buffer factors, Buffer matrix) const = 0;

 private:
  RuleShape shape_;
};

/// The rule of that name for a kind of device; the same object for all who ask. Throws UsageError for a name that the
/// kind does not have.
const Rule& rule_on(std::string_view kind, std::string_view name);

/// The rules that operations of every Device are made of.
struct DeviceRules {
  const Rule &scale, &axpby, &multiply, &divide, &divide_whole, &root, &add_scaled;
  const Rule &sgd, &sgd_momentum, &adam;

  /// Those of a kind of device. Throws UsageError where its kernels are not linked.
  static const DeviceRules& of(std::string_view kind);
};

}  // namespace trigram
