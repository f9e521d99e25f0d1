#include "backends/threads/communicator.hpp"

#include <utility>

#include "core/real_data.hpp"

namespace trigram::threads {

ThreadCommunicator::ThreadCommunicator(LaneOnNetwork lane, std::string name, std::string key,
                                       std::vector<int> world_ranks)
    : ProcessCommunicator(std::move(name), std::move(world_ranks), lane.rank, lane.context),
      lane_(std::move(lane)),
      key_(std::move(key)),
      outgoing_(static_cast<std::size_t>(size())),
      incoming_(static_cast<std::size_t>(size())) {}

void ThreadCommunicator::exchange(std::span<const Transfer> transfers) {
  count_operation();
  for (const Transfer& transfer : transfers) {
    require_rank(transfer.peer);
    require_data(transfer.buffer, "threads");
  }
  const LaneContext& context = *lane();
  Batch batch;
  for (const Transfer& transfer : transfers) batch.add(channel(transfer), transfer, world_rank(transfer.peer));
  batch.finish(
      {lane_.network->ending, context.failure, lane_.rank, context.timeout, [this] { return describe("exchange"); }});
}

std::shared_ptr<Channel> ThreadCommunicator::channel(const Transfer& transfer) {
  const bool receives = is_receive(transfer);
  std::shared_ptr<Channel>& channel = (receives ? incoming_ : outgoing_)[static_cast<std::size_t>(transfer.peer)];
  if (channel == nullptr) {
    channel = receives ? lane_.network->channels.find(key_, transfer.peer, rank())
                       : lane_.network->channels.find(key_, rank(), transfer.peer);
  }
  return channel;
}

std::unique_ptr<Communicator> ThreadCommunicator::regroup(std::string name, const std::vector<int>& members, int part) {
  const std::string key = key_ + "/" + std::to_string(splits_++) + ":" + std::to_string(part);
  return std::make_unique<ThreadCommunicator>(lane_, std::move(name), key, world_ranks_of(members));
}

}  // namespace trigram::threads
