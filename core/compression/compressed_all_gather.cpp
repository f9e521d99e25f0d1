#include "core/compression/compressed_all_gather.hpp"

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

}  // namespace trigram
