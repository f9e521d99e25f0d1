// Reading whole numbers of either size.
#pragma once

#include "core/values/buffer.hpp"

namespace trigram {

/// Element `position` of an i32 or i64 buffer.
inline std::int64_t index_at(const Buffer& indices, std::int64_t position) {
  if (indices.dtype() == DType::i32) return indices.data<std::int32_t>()[position];
  return indices.data<std::int64_t>()[position];
}

}  // namespace trigram
