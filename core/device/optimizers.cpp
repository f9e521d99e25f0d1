// One step of an optimizer as a rule on each tensor; what does not decay takes the same numbers without weight decay.
#include <array>
#include <cmath>
#include <vector>

#include "core/device/device.hpp"
#include "core/device/optimizer_step.hpp"
#include "core/values/error.hpp"

namespace trigram {
namespace {

/// `operands_of(tensor)` gives a tensor's buffers in the order of the rule's.
template <class Tensor, std::size_t N, class OperandsOf>
void step(Device& device, const Rule& rule, std::span<const Tensor> tensors, const std::array<double, N>& scalars,
          const std::array<double, N>& without_decay, const OperandsOf& operands_of) {
  const std::size_t each = rule.shape().operands.size();
  std::vector<Buffer> operands;
  operands.reserve(tensors.size() * each);
  std::vector<RulePart> parts;
  parts.reserve(tensors.size());
  for (const Tensor& tensor : tensors) {
    for (const Buffer& operand : operands_of(tensor)) operands.push_back(operand);
    parts.push_back({std::span(operands).last(each), !tensor.decays});
  }
  device.apply(rule, {scalars, without_decay}, parts);
}

/// What the rule "adam" takes, in its order: bias corrections 1 − βᵗ among them.
std::array<double, 9> adam_scalars(const AdamConstants& constants, float weight_decay) {
  const double beta1 = constants.beta1, beta2 = constants.beta2;
  const auto step = static_cast<double>(constants.step);
  const double decay = static_cast<double>(constants.learning_rate) * weight_decay;
  return {constants.decoupled ? 0.0 : weight_decay,
          constants.decoupled ? 1.0 - decay : 1.0,
          beta1,
          1.0 - beta1,
          beta2,
          1.0 - beta2,
          constants.learning_rate / (1.0 - std::pow(beta1, step)),
          std::sqrt(1.0 - std::pow(beta2, step)),
          constants.epsilon};
}

}  // namespace

void Device::sgd(std::span<const SgdTensor> tensors, const SgdConstants& constants) {
  const auto [rate, momentum, dampening, decay, nesterov, first_step] = constants;
  if (momentum == 0.0F) {
    step(*this, rules_.sgd, tensors, std::array<double, 2>{rate, decay}, {rate, 0}, [](const SgdTensor& tensor) {
      return std::array{tensor.gradients, tensor.weights};
    });
    return;
  }
  const auto scalars = [&](double weight_decay) {
    return std::array<double, 6>{rate, momentum, dampening, weight_decay, nesterov ? 1.0 : 0.0, first_step ? 1.0 : 0.0};
  };
  step(*this, rules_.sgd_momentum, tensors, scalars(decay), scalars(0), [](const SgdTensor& tensor) {
    return std::array{tensor.gradients, tensor.velocity, tensor.weights};
  });
}

void Device::adam(std::span<const AdamTensor> tensors, const AdamConstants& constants) {
  ensure(constants.step >= 1, "adam: steps count from 1, got ", constants.step);
  step(*this, rules_.adam, tensors, adam_scalars(constants, constants.weight_decay), adam_scalars(constants, 0.0F),
       [](const AdamTensor& tensor) {
         return std::array{tensor.gradients, tensor.first, tensor.second, tensor.weights};
       });
}

}  // namespace trigram
