#include "backends/threads/transport.hpp"

#include <cstring>
#include <string>

#include "backends/threads/communicator.hpp"
#include "core/lane/real_data.hpp"

namespace trigram::threads {

std::unique_ptr<Communicator> ThreadTransport::communicator(int lane, const RankPartition& partition,
                                                            const std::shared_ptr<LaneContext>& context) {
  const int color = partition.color[static_cast<std::size_t>(rank_)];
  const std::string key = "lane " + std::to_string(lane) + " " + partition.name + " " + std::to_string(color);
  return std::make_unique<ThreadCommunicator>(network_, key, partition.name, partition.group_of(rank_), rank_, context);
}

HostGroup::Parts ThreadTransport::all_gather(const Bytes& own, Patience patience) {
  const Wait wait{network_->ending, failure(), rank_, patience.seconds,
                  [this] { return "rank " + std::to_string(rank_); }};
  return network_->gatherings.all_gather(rank_, own, wait);
}

HostGroup::Parts ThreadTransport::gather(const Bytes& own, Patience patience) {
  Parts parts = all_gather(own, patience);
  if (rank_ != 0) parts.clear();
  return parts;
}

void ThreadTransport::carry(std::span<const TaggedMessage> messages, const LaneContext& lane,
                            const std::string& operation) {
  Batch batch;
  for (const auto& [transfer, tag] : messages) {
    require_data(transfer.buffer, "threads");
    const bool sends = transfer.direction == Transfer::Direction::send;
    if (tag == envelope_tag) {
      Envelope envelope;
      std::memcpy(&envelope, transfer.buffer.raw(), sizeof envelope);
      network_->inboxes[static_cast<std::size_t>(transfer.peer)].put({rank_, envelope});
      continue;
    }
    const std::string key = "mail " + std::to_string(tag);
    batch.add(
        sends ? network_->channels.find(key, rank_, transfer.peer) : network_->channels.find(key, transfer.peer, rank_),
        transfer, transfer.peer);
  }
  batch.finish({network_->ending, lane.failure, rank_, lane.timeout, [&] { return operation; }});
}

std::pair<int, Envelope> ThreadTransport::take(const LaneContext& lane, double seconds, const std::string& operation,
                                               const std::string& what) {
  const Wait wait{network_->ending, lane.failure, rank_, seconds, [&] { return operation; }};
  return network_->inboxes[static_cast<std::size_t>(rank_)].take(wait, what);
}

}  // namespace trigram::threads
