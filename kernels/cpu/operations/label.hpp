// The label of a row of classes on host memory.
#pragma once

#include "core/values/error.hpp"
#include "kernels/cpu/operations/index.hpp"

namespace trigram {

/// Throws Error where it is none of the classes.
inline std::int64_t label_at(const Buffer& labels, std::int64_t row, std::int64_t classes) {
  const std::int64_t label = index_at(labels, row);
  ensure(label >= 0 && label < classes, "label ", label, " of row ", row, " is none of ", classes, " classes");
  return label;
}

}  // namespace trigram
