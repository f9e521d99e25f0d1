// What a loop computes on a stream of its own: gradients that depend on its weights, and steps along them.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/scalar.hpp"

namespace trigram::testing {

/// A rank's loss in one step.
struct OwnLoss {
  int rank = 0, step = 0;

  /// By the weight and its place in the model.
  TRIGRAM_RULE float gradient(float weight, std::int64_t element) const {
    return 0.5F * weight + static_cast<float>((7 * element + 3 * rank + 5 * step) % 11) - 5.0F;
  }
};

/// `count` elements of a model, of which the first is element `begin`.
struct OwnTensor {
  const float* weights;
  float* gradients;
  std::int64_t begin, count;
};
void order_gradients(const OwnLoss& loss, const OwnTensor& tensor, cudaStream_t stream);

/// weights −= rate · gradients.
void order_step(float rate, const float* gradients, float* weights, std::int64_t count, cudaStream_t stream);

/// Sets each of `count` numbers.
void order_fill(float value, float* numbers, std::int64_t count, cudaStream_t stream);

}  // namespace trigram::testing
