// Exchanges of encoded tensors as functions of C, as tensor_surface.cpp has those of tensors as they are.
#include <span>
#include <vector>

#include "core/compression/compressed_all_gather.hpp"
#include "core/compression/compressed_reduce_scatter.hpp"
#include "python/session/answer.hpp"
#include "python/session/surface.hpp"
#include "python/session/tensor_group.hpp"

namespace trigram {
namespace {

/// {"seed", "step", "bucket", "chunk"}, of a rank of the group.
Key key_of(const Json& call, const Communicator& group, Phase phase) {
  Key key;
  key.seed = call.at("seed");
  key.step = call.at("step");
  key.bucket = call.at("bucket");
  key.chunk = call.at("chunk");
  key.rank = group.rank();
  key.phase = phase;
  return key;
}

/// As many elements of each rank of the group, one behind the other.
std::vector<Buffer> parts_of(const Communicator& group, std::uint64_t numbers, std::int64_t count) {
  const std::int64_t each = count / group.size();
  require(each * group.size() == count, count, " elements are not as many of each of ", group.size(), " ranks");
  const Buffer whole(address(numbers), Shape::of(count, DType::f32));
  std::vector<Buffer> parts;
  for (int rank = 0; rank < group.size(); ++rank) parts.push_back(whole.slice(rank * each, each));
  return parts;
}

}  // namespace
}  // namespace trigram

using trigram::Communicator;
using trigram::TensorGroup;
using trigram::Worker;

int trigram_codec_bytes(const char* codec, std::int64_t count, std::int64_t* bytes) {
  return trigram::answer([&] { *bytes = trigram::make_codec_model(codec)->encoded_bytes(count); });
}

int trigram_group_gather_encoded(TensorGroup* tensors, int group, const char* call, std::uint64_t numbers,
                                 std::int64_t count, std::int64_t* sent) {
  return trigram::answer([&] {
    const trigram::Json asked = trigram::Json::parse(call);
    const trigram::Codec& codec = tensors->codec(asked.at("codec"));
    *sent = tensors->together(group, [&](Worker& worker, Communicator& comm) {
      const std::vector<trigram::Buffer> parts = trigram::parts_of(comm, numbers, count);
      compressed_all_gather_parts(worker, comm, parts[static_cast<std::size_t>(comm.rank())], parts, codec,
                                  trigram::key_of(asked, comm, trigram::Phase::server));
    });
  });
}

int trigram_group_reduce_encoded(TensorGroup* tensors, int group, const char* call, std::uint64_t numbers,
                                 std::int64_t count, std::int64_t* sent) {
  return trigram::answer([&] {
    const trigram::Json asked = trigram::Json::parse(call);
    const trigram::Codec& codec = tensors->codec(asked.at("codec"));
    *sent = tensors->together(group, [&](Worker& worker, Communicator& comm) {
      compressed_reduce_scatter(worker, comm, trigram::parts_of(comm, numbers, count), codec,
                                trigram::key_of(asked, comm, trigram::Phase::worker),
                                trigram::reduce_op_of(asked.at("op")));
    });
  });
}
