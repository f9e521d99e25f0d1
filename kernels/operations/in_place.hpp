// Operations that change a tensor where it lies, or a copy of it.
#pragma once

#include "core/device/kernels.hpp"

namespace trigram {

/// Makes `to` hold what `from` holds, which may be the same memory.
inline void bring(Kernels& kernels, const Buffer& from, const Buffer& to) {
  if (from.count() > 0 && from.raw() != to.raw()) kernels.copy(from, to);
}

}  // namespace trigram
