// Fused optimizer steps, each element by itself, so that a flat bucket equals its tensors one by one.
#include "kernels/cpu/kernels.hpp"
#include "kernels/scalar.hpp"

namespace trigram {

void CpuKernels::sgd(Buffer weights, Buffer gradients, Buffer velocity, const SgdConstants& constants) {
  float* weight = weights.data<float>();
  const float* gradient = gradients.data<float>();
  const std::int64_t count = weights.count();
  if (constants.momentum == 0.0F) {
    vectorised(instructions_, [=]() TRIGRAM_INLINE {
      for (std::int64_t i = 0; i < count; ++i) scalar::sgd(weight[i], gradient[i], constants);
    });
    return;
  }
  float* moving = velocity.data<float>();
  vectorised(instructions_, [=]() TRIGRAM_INLINE {
    for (std::int64_t i = 0; i < count; ++i) scalar::sgd(weight[i], gradient[i], moving[i], constants);
  });
}

void CpuKernels::adam(Buffer weights, Buffer gradients, Buffer first, Buffer second, const AdamConstants& constants) {
  float* weight = weights.data<float>();
  const float* gradient = gradients.data<float>();
  float* mean = first.data<float>();
  float* square = second.data<float>();
  const scalar::AdamFactors factors = scalar::adam_factors(constants);
  vectorised(instructions_, [=, count = weights.count()]() TRIGRAM_INLINE {
    for (std::int64_t i = 0; i < count; ++i) scalar::adam(weight[i], gradient[i], mean[i], square[i], factors);
  });
}

}  // namespace trigram
