#include "core/primitives/centralized.hpp"

#include <array>
#include <vector>

#include "core/compression/compressed_all_gather.hpp"
#include "core/compression/encoding_key.hpp"
#include "core/compression/frames.hpp"
#include "core/lane/all_reduce.hpp"
#include "core/values/error.hpp"
#include "core/values/quoted.hpp"

namespace trigram {
namespace {

std::vector<Shape> chunk_shapes(Buffer x, int parts) {
  std::vector<Shape> shapes;
  shapes.reserve(static_cast<std::size_t>(parts));
  for (int i = 0; i < parts; ++i) shapes.push_back(x.chunk(i, parts).shape());
  return shapes;
}

/// Spends what one operation of a codec on every chunk of x costs, where there is nothing to compute: few chunks differ
/// in size from the one before.
void charge_chunks(Device& device, const Codec& codec, Buffer x, int n, CodecStep step) {
  double bytes = 0;
  std::int64_t before = -1;
  double of_chunk = 0;
  for (int chunk = 0; chunk < n; ++chunk) {
    const std::int64_t count = chunk_count(x.modelled_count(), n, chunk);
    if (count != before) of_chunk = codec.traffic(count).of(step);
    before = count;
    bytes += of_chunk;
  }
  device.charge({0, bytes}, {codec.name(), step, x.modelled_count()});
}

std::vector<CodecPart> with_vectors(std::vector<CodecPart> parts, Buffer x) {
  const int n = static_cast<int>(parts.size());
  for (int chunk = 0; chunk < n; ++chunk) parts[static_cast<std::size_t>(chunk)].vector = x.chunk(chunk, n);
  return parts;
}

/// e ← u − decode(frames), where the chunks of `u` are what the frames encode.
void keep_error(Device& device, const Codec& codec, Buffer u, const std::vector<CodecPart>& encoded, Buffer error) {
  device.copy(u, error);
  codec.decode_add_all(device, with_vectors(encoded, error), -1.0F);
}

}  // namespace

void centralized_full_precision(Worker& worker, Buffer x) {
  hierarchical_by_chunks(worker, x, NodeValue::weighted_mean,
                         [](Communicator& group, Buffer part) { group.all_reduce(part, ReduceOp::mean); });
}

Cost centralized_full_precision_cost(const CostQuery& query, const Shape& bucket) {
  const AllReduce& all_reduce = all_reduce_named(query.all_reduce);
  const std::int64_t element = size_of(bucket.dtype);
  return hierarchical_by_chunks_cost(
      query.hierarchy_chunks, query.hierarchy, query.place, bucket.modelled_count, element,
      [&](int ranks, int rank, std::int64_t count) {
        const bool flat = query.hierarchy == Hierarchy::none;
        return all_reduce.cost_at(flat ? query.place : Placement{rank, ranks, rank, ranks, 0, 1}, count, element);
      });
}

FrameExchange read_frame_exchange(Params& params) {
  const std::string text =
      params.get(frame_exchange_key, "scatter_reduce",
                 "scatter_reduce: chunks to servers, means to everybody at once; scatter_reduce_ring: means around a "
                 "ring; all_gather: whole frames to everybody, who decodes all of them");
  if (text == "scatter_reduce") return FrameExchange::scatter_reduce;
  if (text == "scatter_reduce_ring") return FrameExchange::scatter_reduce_ring;
  require(text == "all_gather", params.owner(), ": 'exchange': ", Quoted(text),
          " is none of scatter_reduce, scatter_reduce_ring, all_gather");
  return FrameExchange::all_gather;
}

CentralizedLowPrecision::CentralizedLowPrecision(Worker& worker, const Bucket& bucket,
                                                 std::shared_ptr<const Codec> codec, bool error_feedback,
                                                 FrameExchange exchange)
    : codec_(std::move(codec)), bucket_(bucket.index), error_feedback_(error_feedback), exchange_(exchange) {
  const PrimitiveGroup group = primitive_group(worker, bucket.gradients);
  if (!error_feedback_ || group.comm == nullptr) return;
  const bool alone = group.comm->size() == 1;
  worker_shape_ = group.part.shape();
  worker_extent_ = extent_in(bucket.gradients, group.part);
  if (!alone) worker_residual_ = worker.device.allocate(worker_shape_);
  if (exchange_ == FrameExchange::all_gather) return;
  const Buffer served = group.part.chunk(group.comm->rank(), group.comm->size());
  server_shape_ = served.shape();
  server_extent_ = extent_in(bucket.gradients, served);
  if (!alone) server_residual_ = worker.device.allocate(server_shape_);
}

void CentralizedLowPrecision::average(Worker& lane, Buffer x) {
  const bool comparable = learning_rate_ != 0 && lane.learning_rate != 0;
  residual_weight_ = comparable ? static_cast<float>(learning_rate_ / lane.learning_rate) : 1.0F;
  learning_rate_ = lane.learning_rate;
  hierarchical(lane, x, NodeValue::weighted_mean, [&](Communicator& group, Buffer part) {
    if (group.size() == 1) return pay(lane, part);
    if (exchange_ == FrameExchange::all_gather) return gather_whole_frames(lane, group, part);
    scatter_reduce(lane, group, part);
  });
}

void CentralizedLowPrecision::list_state(State& state) {
  state.room("worker residual", worker_residual_, worker_shape_, Fate::averaged, worker_extent_);
  state.room("server residual", server_residual_, server_shape_, Fate::cut, server_extent_);
  state.value("learning rate", learning_rate_);
}

/// All that those who left did not send.
void CentralizedLowPrecision::pay(Worker& lane, Buffer x) {
  if (has_paid_) return;
  has_paid_ = true;
  for (const Buffer& residual : {worker_residual_.view(), server_residual_.view()}) {
    if (residual.empty()) continue;
    lane.device.axpby(residual_weight_, residual, 1.0F, x);
    lane.device.fill(residual, 0);
  }
}

void CentralizedLowPrecision::gather_whole_frames(Worker& lane, Communicator& group, Buffer x) {
  if (error_feedback_) lane.device.axpby(residual_weight_, worker_residual_, 1.0F, x);
  compressed_all_gather(lane, group, x, *codec_, chunk_key(lane, group, bucket_, 0, Phase::worker), worker_residual_);
}

void CentralizedLowPrecision::scatter_reduce(Worker& lane, Communicator& group, Buffer x) {
  const int n = group.size();
  const int self = group.rank();
  const std::vector<Shape> chunks = chunk_shapes(x, n);
  const std::vector<Shape> own(static_cast<std::size_t>(n), chunks[static_cast<std::size_t>(self)]);
  const std::vector<Frames> frames = Frames::rows(group, *codec_, std::array<Frames::Vectors, 3>{chunks, own, chunks});
  const Frames& sent = frames[0];
  const Frames& received = frames[1];
  const Frames& gathered = frames[2];
  lane.device.fused(Activity::encode, "encode", [&] { encode_worker(lane, group, x, sent); });
  group.all_to_all(sent.all(), received.all());

  serve(lane, group, received, x.chunk(self, n), gathered[self]);
  if (exchange_ == FrameExchange::scatter_reduce_ring) {
    group.all_gather(gathered.all());
  } else {
    // Every server sends its frame to everyone at once: one round, where a ring takes n − 1 latencies.
    group.all_to_all(std::vector<Buffer>(static_cast<std::size_t>(n), gathered[self]), gathered.all());
  }
  lane.device.fused(Activity::decode, "decode", [&] {
    if (x.is_phantom()) return charge_chunks(lane.device, *codec_, x, n, CodecStep::decode);
    std::vector<CodecPart> parts;
    for (int server = 0; server < n; ++server) {
      Key key = chunk_key(lane, group, bucket_, server, Phase::server);
      key.rank = server;
      parts.push_back({x.chunk(server, n), gathered[server], key});
    }
    codec_->decode_all(lane.device, parts);
  });
}

void CentralizedLowPrecision::encode_worker(Worker& lane, Communicator& group, Buffer x, const Frames& frames) {
  const int n = group.size();
  if (x.is_phantom() && !error_feedback_) return charge_chunks(lane.device, *codec_, x, n, CodecStep::encode);
  if (error_feedback_) lane.device.axpby(residual_weight_, worker_residual_, 1.0F, x);
  std::vector<CodecPart> parts;
  for (int chunk = 0; chunk < n; ++chunk) {
    parts.push_back({x.chunk(chunk, n), frames[chunk], chunk_key(lane, group, bucket_, chunk, Phase::worker)});
  }
  codec_->encode_all(lane.device, parts);
  if (error_feedback_) keep_error(lane.device, *codec_, x, parts, worker_residual_);
}

/// The frames of ranks i+1, …, i+n (mod n), in which order server i adds them.
std::vector<KeyedFrame> CentralizedLowPrecision::in_order(const Worker& lane, const Communicator& group,
                                                          const Frames& received) const {
  const int n = group.size();
  Key key = chunk_key(lane, group, bucket_, group.rank(), Phase::worker);
  std::vector<KeyedFrame> frames;
  frames.reserve(static_cast<std::size_t>(n));
  for (int k = 1; k <= n; ++k) {
    key.rank = (group.rank() + k) % n;
    frames.push_back({received[key.rank], key});
  }
  return frames;
}

/// frame ← Q(s + ε), s the mean of what was received.
void CentralizedLowPrecision::serve(Worker& lane, Communicator& group, const Frames& received, Buffer mean,
                                    Buffer frame) {
  const Key key = chunk_key(lane, group, bucket_, group.rank(), Phase::server);
  const std::vector<KeyedFrame> frames = in_order(lane, group, received);
  if (error_feedback_) return serve_with_feedback(lane, frames, mean, frame, key);
  codec_->decode_reduce_encode(lane.device, frames, 1.0F / static_cast<float>(group.size()), mean, frame, key);
}

void CentralizedLowPrecision::serve_with_feedback(Worker& lane, std::span<const KeyedFrame> received, Buffer mean,
                                                  Buffer frame, const Key& key) {
  lane.device.fused(Activity::decode, "decode_reduce", [&] {
    lane.device.fill(mean, 0);
    for (const KeyedFrame& part : received) codec_->decode_add(lane.device, part.frame, 1.0F, mean, part.key);
    lane.device.scale(mean, 1.0F / static_cast<float>(received.size()));
  });
  lane.device.fused(Activity::encode, "encode_server", [&] {
    lane.device.axpby(residual_weight_, server_residual_, 1.0F, mean);
    codec_->encode(lane.device, mean, frame, key);
    keep_error(lane.device, *codec_, mean, {{mean, frame, key}}, server_residual_);
  });
}

Cost centralized_low_precision_cost(const CostQuery& query, const Shape& bucket, const Codec& codec,
                                    FrameExchange exchange) {
  const auto of_frames = [&](int ranks, int rank, std::int64_t count) {
    Cost cost;
    if (ranks == 1) return cost;
    if (exchange == FrameExchange::all_gather) return compressed_all_gather_cost(ranks, count, codec);
    // Every other rank's chunk goes to its server; the own chunk, reduced, goes to every other rank.
    for (int chunk = 0; chunk < ranks; ++chunk) {
      if (chunk != rank) cost.bytes += codec.encoded_bytes(chunk_count(count, ranks, chunk));
    }
    cost.rounds = 1;
    if (exchange == FrameExchange::scatter_reduce_ring) {
      // All frames of means but the successor's pass this rank.
      for (int chunk = 0; chunk < ranks; ++chunk) {
        if (chunk != (rank + 1) % ranks) cost.bytes += codec.encoded_bytes(chunk_count(count, ranks, chunk));
      }
      cost.rounds += ranks - 1;
      return cost;
    }
    cost.bytes += (ranks - 1) * codec.encoded_bytes(chunk_count(count, ranks, rank));
    cost.rounds += 1;
    return cost;
  };
  return hierarchical_cost(query.hierarchy, query.place, bucket.modelled_count, size_of(bucket.dtype), of_frames);
}

void require_stable_scatter_reduce(const CostQuery& query, const Codec& codec, const std::string& spec,
                                   FrameExchange exchange) {
  const int parts = exchange == FrameExchange::all_gather ? 1 : vertices(query.hierarchy, query.place);
  for (const BucketLayout& bucket : query.buckets) {
    require_stable_under_feedback(codec, spec, chunk_count(bucket.shape.modelled_count, parts, 0));
  }
}

}  // namespace trigram
