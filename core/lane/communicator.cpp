#include "core/lane/communicator.hpp"

#include <array>

namespace trigram {

const char* name_of(Collective collective) {
  constexpr std::array names{"all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast",
                             "reduce",     "gather",         "scatter",    "barrier"};
  return names.at(static_cast<std::size_t>(collective));
}

Buffer Communicator::scratch(const Shape& shape) {
  if (shape.phantom) return {nullptr, shape};
  const std::int64_t bytes = shape.count * size_of(shape.dtype);
  if (scratch_.view().bytes() < bytes) scratch_ = device().allocate(Shape::of(bytes, DType::u8));
  return {scratch_.view().raw(), shape};
}

}  // namespace trigram
