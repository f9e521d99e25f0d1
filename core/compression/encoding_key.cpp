#include "core/compression/encoding_key.hpp"

namespace trigram {
namespace {

Key part_key(const Worker& lane, const Communicator& group, int bucket, int chunk, int chunks, Phase phase) {
  Key key = lane.key(bucket, phase);
  key.rank = group.rank();
  const int part = lane.relaxation.hierarchy == Hierarchy::all_nics ? lane.node.rank() : 0;
  key.chunk = part * chunks + chunk;
  return key;
}

}  // namespace

Key vector_key(const Worker& lane, const Communicator& group, int bucket) {
  return part_key(lane, group, bucket, 0, 1, Phase::worker);
}

Key chunk_key(const Worker& lane, const Communicator& group, int bucket, int chunk, Phase phase) {
  return part_key(lane, group, bucket, chunk, group.size(), phase);
}

}  // namespace trigram
