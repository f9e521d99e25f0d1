#include "core/compression/frames.hpp"

namespace trigram {

namespace {

bool same(const Shape& a, const Shape& b) {
  return a.count == b.count && a.modelled_count == b.modelled_count && a.dtype == b.dtype && a.phantom == b.phantom;
}

std::int64_t padded(std::int64_t bytes) {
  return (bytes + Frames::alignment - 1) / Frames::alignment * Frames::alignment;
}

std::vector<Shape> shapes_of(const Codec& codec, Frames::Vectors vectors) {
  std::vector<Shape> shapes;
  shapes.reserve(vectors.size());
  const Shape* before = nullptr;
  for (const Shape& vector : vectors) {
    const bool repeated = before != nullptr && same(vector, *before);
    shapes.push_back(repeated ? shapes.back() : codec.encoded_shape(vector));
    before = &vector;
  }
  return shapes;
}

/// Makes `whole` the shape of memory for these frames too.
void add_room(std::span<const Shape> frames, Shape& whole) {
  for (const Shape& frame : frames) {
    whole.count += padded(frame.count);
    whole.modelled_count += frame.modelled_count;
    whole.phantom = frame.phantom;
  }
}

}  // namespace

Frames::Frames(Buffer memory, std::span<const Shape> shapes, std::int64_t& offset) {
  frames_.reserve(shapes.size());
  for (const Shape& shape : shapes) {
    frames_.push_back(memory.slice(offset, shape.count, shape.modelled_count));
    offset += padded(shape.count);
  }
}

Frames Frames::row(Communicator& group, const Codec& codec, Vectors vectors) {
  return rows(group, codec, std::span(&vectors, 1)).front();
}

std::vector<Frames> Frames::rows(Communicator& group, const Codec& codec, std::span<const Vectors> vectors) {
  std::vector<std::vector<Shape>> shapes;
  Shape whole = Shape::of(0, DType::u8);
  for (const Vectors row : vectors) add_room(shapes.emplace_back(shapes_of(codec, row)), whole);
  const Buffer memory = group.scratch(whole);
  std::int64_t offset = 0;
  std::vector<Frames> rows;
  for (const std::vector<Shape>& row : shapes) rows.push_back(Frames(memory, row, offset));
  return rows;
}

std::vector<int> swap_with_peers(Communicator& group, std::span<const int> peers, const Frames& frames) {
  std::vector<Transfer> transfers;
  for (std::size_t i = 0; i < peers.size(); ++i) {
    transfers.push_back(Transfer::send_to(peers[i], frames.last()));
    transfers.push_back(Transfer::receive_from(peers[i], frames[static_cast<int>(i)]));
  }
  return transfers.empty() ? std::vector<int>() : group.exchange_with_those_there(transfers);
}

}  // namespace trigram
