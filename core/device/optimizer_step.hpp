// What one step of an optimizer is told: the constants of all elements, and the runs of elements that it changes.
#pragma once

#include <cstdint>

#include "core/values/buffer.hpp"

namespace trigram {

/// Constants of one SGD step as PyTorch defines them: d = g + weight_decay·w; u = momentum·u + (1 − dampening)·d
/// (u = d in the first step); w −= lr·(nesterov ? d + momentum·u : u).
struct SgdConstants {
  float learning_rate = 0.0F, momentum = 0.0F, dampening = 0.0F, weight_decay = 0.0F;
  bool nesterov = false, first_step = false;
};

/// Constants of one Adam step (Kingma & Ba 2015); with `decoupled`, AdamW (Loshchilov & Hutter 2019).
/// `step` counts from 1 and enters the bias corrections 1 − beta^step.
struct AdamConstants {
  float learning_rate = 0.0F, beta1 = 0.9F, beta2 = 0.999F, epsilon = 1e-8F, weight_decay = 0.0F;
  std::int64_t step = 1;
  bool decoupled = false;
};

/// One run of elements in an SGD step; `velocity` is used with momentum only.
struct SgdTensor {
  Buffer weights, gradients, velocity;
  bool decays = true;  ///< weight decay applies
};

/// One run of elements in an Adam step.
struct AdamTensor {
  Buffer weights, gradients, first, second;
  bool decays = true;  ///< weight decay applies
};

}  // namespace trigram
