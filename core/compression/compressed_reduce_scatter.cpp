#include "core/compression/compressed_reduce_scatter.hpp"

#include <array>
#include <vector>

#include "core/compression/frames.hpp"

namespace trigram {

void compressed_reduce_scatter(Worker& lane, Communicator& group, Buffer x, const Codec& codec, const Key& own) {
  const int n = group.size();
  const int self = group.rank();
  if (n == 1) return;
  std::vector<Shape> chunks;
  for (int chunk = 0; chunk < n; ++chunk) chunks.push_back(x.chunk(chunk, n).shape());
  const std::vector<Shape> mine(static_cast<std::size_t>(n), chunks[static_cast<std::size_t>(self)]);
  const std::vector<Frames> frames = Frames::rows(group, codec, std::array<Frames::Vectors, 2>{chunks, mine});
  lane.device.fused(Activity::encode, "encode", [&] {
    std::vector<CodecPart> parts;
    Key key = own;
    for (int chunk = 0; chunk < n; ++chunk, ++key.chunk) parts.push_back({x.chunk(chunk, n), frames[0][chunk], key});
    codec.encode_all(lane.device, parts);
  });
  group.all_to_all(frames[0].all(), frames[1].all());
  lane.device.fused(Activity::decode, "decode_reduce", [&] {
    const Buffer mean = x.chunk(self, n);
    Key key = own;
    key.chunk += self;
    lane.device.fill(mean, 0);
    for (int k = 1; k <= n; ++k) {
      key.rank = (self + k) % n;
      codec.decode_add(lane.device, frames[1][key.rank], 1.0F, mean, key);
    }
    lane.device.scale(mean, 1.0F / static_cast<float>(n));
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
