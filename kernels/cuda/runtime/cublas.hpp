// cuBLAS, where the machine has it. It is found at run time, so that a machine with only a driver runs all the rest.
#pragma once

#include <cuda_runtime.h>

#include <memory>
#include <string>

#include "core/device/kernels.hpp"

namespace trigram::cuda {

/// A handle on one stream, with a workspace of its own from its first product on.
class Cublas {
 public:
  /// Null where no libcublas of version 12 or 13 is found. Of one that is found and fails products throw BackendError.
  static std::unique_ptr<Cublas> open(cudaStream_t stream);
  /// What multiplies matrices on this machine, in words: cuBLAS and its file, or kernels of our own, far slower.
  static std::string used();
  virtual ~Cublas() = default;
  /// C = alpha op(A) op(B) + beta C in f32, row-major, without TF32; m, n and k are at least 1.
  virtual void multiply(const GemmShape& shape, const float* a, const float* b, float* c) = 0;
};

}  // namespace trigram::cuda
