#include "core/primitives/frames.hpp"

namespace trigram {

namespace {

bool same(const Shape& a, const Shape& b) {
  return a.count == b.count && a.modelled_count == b.modelled_count && a.dtype == b.dtype && a.phantom == b.phantom;
}

}  // namespace

Frames::Frames(Device& device, const Codec& codec, std::span<const Shape> vectors) {
  Shape whole = Shape::of(0, DType::u8);
  std::vector<Shape> shapes;
  shapes.reserve(vectors.size());
  frames_.reserve(vectors.size());
  const Shape* before = nullptr;
  for (const Shape& vector : vectors) {
    const bool repeated = before != nullptr && same(vector, *before);
    shapes.push_back(repeated ? shapes.back() : codec.encoded_shape(vector));
    before = &vector;
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
