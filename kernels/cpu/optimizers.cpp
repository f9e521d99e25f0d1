// Fused optimizer steps, each element by itself, so that a flat bucket equals its tensors one by one.
#include "kernels/cpu/kernels.hpp"
#include "kernels/scalar.hpp"

namespace trigram {
namespace {

void step(Instructions instructions, const SgdTensor& tensor, const SgdConstants& constants) {
  float* weight = tensor.weights.data<float>();
  const float* gradient = tensor.gradients.data<float>();
  const std::int64_t count = tensor.weights.count();
  if (constants.momentum == 0.0F) {
    vectorised(instructions, [=]() TRIGRAM_INLINE {
      for (std::int64_t i = 0; i < count; ++i) scalar::sgd(weight[i], gradient[i], constants);
    });
    return;
  }
  float* velocity = tensor.velocity.data<float>();
  vectorised(instructions, [=]() TRIGRAM_INLINE {
    for (std::int64_t i = 0; i < count; ++i) scalar::sgd(weight[i], gradient[i], velocity[i], constants);
  });
}

void step(Instructions instructions, const AdamTensor& tensor, const AdamConstants& constants) {
  float* weight = tensor.weights.data<float>();
  const float* gradient = tensor.gradients.data<float>();
  float* first = tensor.first.data<float>();
  float* second = tensor.second.data<float>();
  const scalar::AdamFactors factors = scalar::adam_factors(constants);
  vectorised(instructions, [=, count = tensor.weights.count()]() TRIGRAM_INLINE {
    for (std::int64_t i = 0; i < count; ++i) scalar::adam(weight[i], gradient[i], first[i], second[i], factors);
  });
}

template <class Tensor, class Constants>
void step_each(Instructions instructions, std::span<const Tensor> tensors, const Constants& constants) {
  Constants without_decay = constants;
  without_decay.weight_decay = 0.0F;
  for (const Tensor& tensor : tensors) step(instructions, tensor, tensor.decays ? constants : without_decay);
}

}  // namespace

void CpuKernels::sgd(std::span<const SgdTensor> tensors, const SgdConstants& constants) {
  step_each(instructions_, tensors, constants);
}

void CpuKernels::adam(std::span<const AdamTensor> tensors, const AdamConstants& constants) {
  step_each(instructions_, tensors, constants);
}

}  // namespace trigram
