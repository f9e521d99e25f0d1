#include "core/primitives/frames.hpp"

namespace trigram {

Frames::Frames(Device& device, const Codec& codec, std::span<const Shape> vectors) {
  Shape whole = Shape::of(0, DType::u8);
  std::vector<Shape> shapes;
  for (const Shape& vector : vectors) {
    shapes.push_back(codec.encoded_shape(vector));
    whole.count += shapes.back().count;
    whole.modelled_count += shapes.back().modelled_count;
    whole.phantom = vector.phantom;
  }
  memory_ = device.allocate_unfilled(whole);
  std::int64_t offset = 0;
  for (const Shape& shape : shapes) {
    frames_.push_back(memory_.view().slice(offset, shape.count, shape.modelled_count));
    offset += shape.count;
  }
}

}  // namespace trigram
