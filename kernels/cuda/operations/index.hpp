// Reading whole numbers of either size on the device.
#pragma once

#include <cuda_runtime.h>

#include "core/values/buffer.hpp"

namespace trigram::cuda {

/// The elements of an i32 or i64 buffer.
struct Indices {
  const void* address;
  std::int64_t count;
  bool wide;

  explicit Indices(const Buffer& buffer)
      : address(buffer.raw()), count(buffer.count()), wide(buffer.dtype() == DType::i64) {}

  __device__ __forceinline__ std::int64_t operator[](std::int64_t i) const {
    return wide ? static_cast<const std::int64_t*>(address)[i] : static_cast<const std::int32_t*>(address)[i];
  }
};

}  // namespace trigram::cuda
