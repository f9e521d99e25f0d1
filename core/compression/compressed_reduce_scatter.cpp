#include "core/compression/compressed_reduce_scatter.hpp"

#include <array>
#include <vector>

#include "core/compression/frames.hpp"
#include "core/values/error.hpp"

namespace trigram {

void compressed_reduce_scatter(Worker& lane, Communicator& group, Buffer x, const Codec& codec, const Key& own) {
  std::vector<Buffer> chunks;
  for (int chunk = 0; chunk < group.size(); ++chunk) chunks.push_back(x.chunk(chunk, group.size()));
  compressed_reduce_scatter(lane, group, chunks, codec, own);
}

void compressed_reduce_scatter(Worker& lane, Communicator& group, std::span<const Buffer> parts, const Codec& codec,
                               const Key& own, ReduceOp op) {
  const int n = group.size();
  const int self = group.rank();
  ensure(op == ReduceOp::mean || op == ReduceOp::sum, "what codecs have encoded is added, or its mean taken");
  if (n == 1) return;
  std::vector<Shape> shapes;
  for (const Buffer& part : parts) shapes.push_back(part.shape());
  const std::vector<Shape> mine(static_cast<std::size_t>(n), shapes[static_cast<std::size_t>(self)]);
  const std::vector<Frames> frames = Frames::rows(group, codec, std::array<Frames::Vectors, 2>{shapes, mine});
  lane.device.fused(Activity::encode, "encode", [&] {
    std::vector<CodecPart> encoded;
    Key key = own;
    for (int part = 0; part < n; ++part, ++key.chunk)
      encoded.push_back({parts[static_cast<std::size_t>(part)], frames[0][part], key});
    codec.encode_all(lane.device, encoded);
  });
  group.all_to_all(frames[0].all(), frames[1].all());
  lane.device.fused(Activity::decode, "decode_reduce", [&] {
    const Buffer reduced = parts[static_cast<std::size_t>(self)];
    Key key = own;
    key.chunk += self;
    lane.device.fill(reduced, 0);
    for (int k = 1; k <= n; ++k) {
      key.rank = (self + k) % n;
      codec.decode_add(lane.device, frames[1][key.rank], 1.0F, reduced, key);
    }
    if (op == ReduceOp::mean) lane.device.scale(reduced, 1.0F / static_cast<float>(n));
  });
}

Cost compressed_reduce_scatter_cost(int ranks, int rank, std::int64_t count, const Codec& codec) {
  if (ranks == 1) return {};
  Cost cost{1, 0};
  for (int chunk = 0; chunk < ranks; ++chunk) {
    if (chunk != rank) cost.bytes += codec.encoded_bytes(chunk_count(count, ranks, chunk));
  }
  return cost;
}

}  // namespace trigram
