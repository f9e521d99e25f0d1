#include "core/compression/compressed_all_gather.hpp"

#include <cstddef>
#include <vector>

namespace trigram {

Frames gather_frames(Worker& lane, Communicator& group, Buffer x, const Codec& codec, const Key& own, Buffer error) {
  const std::vector<Shape> vectors(static_cast<std::size_t>(group.size()), x.shape());
  const Frames frames = Frames::row(group, codec, vectors);
  codec.encode(lane.device, x, frames[group.rank()], own);
  if (error.modelled_count() > 0) {
    lane.device.copy(x, error);
    codec.decode_add(lane.device, frames[group.rank()], -1.0F, error, own);
  }
  // The implementation of a ring of parts needs no scratch memory, where the frames are.
  group.all_gather(frames.all());
  return frames;
}

void compressed_all_gather(Worker& lane, Communicator& group, Buffer x, const Codec& codec, const Key& own,
                           Buffer error) {
  const Frames frames = gather_frames(lane, group, x, codec, own, error);
  lane.device.fill(x, 0);
  Key key = own;
  for (int rank = 0; rank < group.size(); ++rank) {
    key.rank = rank;
    codec.decode_add(lane.device, frames[rank], 1.0F, x, key);
  }
  lane.device.scale(x, 1.0F / static_cast<float>(group.size()));
}

Cost compressed_all_gather_cost(int ranks, std::int64_t count, const Codec& codec) {
  return {ranks - 1, (ranks - 1) * codec.encoded_bytes(count)};
}

void compressed_all_gather_parts(Worker& lane, Communicator& group, Buffer mine, std::span<const Buffer> places,
                                 const Codec& codec, const Key& own) {
  std::vector<Shape> shapes;
  for (const Buffer& place : places) shapes.push_back(place.shape());
  const Frames frames = Frames::row(group, codec, shapes);
  codec.encode(lane.device, mine, frames[group.rank()], own);
  // The body of a ring of parts needs no scratch memory, where the frames are.
  group.all_gather(frames.all());
  std::vector<CodecPart> parts;
  Key key = own;
  for (key.rank = 0; key.rank < group.size(); ++key.rank)
    parts.push_back({places[static_cast<std::size_t>(key.rank)], frames[key.rank], key});
  lane.device.fused(Activity::decode, "decode", [&] { codec.decode_all(lane.device, parts); });
}

Cost compressed_all_gather_parts_cost(int rank, std::span<const std::int64_t> counts, const Codec& codec) {
  const auto ranks = static_cast<int>(counts.size());
  if (ranks == 1) return {};
  Cost cost{ranks - 1, 0};
  for (int other = 0; other < ranks; ++other) {
    if (other != (rank + 1) % ranks) cost.bytes += codec.encoded_bytes(counts[static_cast<std::size_t>(other)]);
  }
  return cost;
}

}  // namespace trigram
