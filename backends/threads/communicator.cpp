#include "backends/threads/communicator.hpp"

#include <utility>

namespace trigram::threads {

ThreadCommunicator::ThreadCommunicator(std::shared_ptr<Network> network, std::string key, std::string name,
                                       std::vector<int> world_ranks, int own, LaneOfGroup lane)
    : ProcessCommunicator(std::move(name), std::move(world_ranks), own, std::move(lane)),
      network_(std::move(network)),
      key_(std::move(key)),
      outgoing_(static_cast<std::size_t>(size())),
      incoming_(static_cast<std::size_t>(size())) {}

void ThreadCommunicator::exchange(std::span<const Transfer> transfers) {
  count_operation();
  require_possible(transfers, "threads");
  const LaneContext& context = *lane();
  Batch batch;
  for (const Transfer& transfer : transfers) batch.add(channel(transfer), transfer, world_rank(transfer.peer));
  batch.finish(
      {network_->ending, context.failure, own_world_rank(), context.timeout, [this] { return describe("exchange"); }});
}

std::shared_ptr<Channel> ThreadCommunicator::channel(const Transfer& transfer) {
  const bool receives = is_receive(transfer);
  std::shared_ptr<Channel>& channel = (receives ? incoming_ : outgoing_)[static_cast<std::size_t>(transfer.peer)];
  if (channel == nullptr) {
    channel = receives ? network_->channels.find(key_, transfer.peer, rank())
                       : network_->channels.find(key_, rank(), transfer.peer);
  }
  return channel;
}

std::unique_ptr<Communicator> ThreadCommunicator::make_part(std::string name, const std::vector<int>& members,
                                                            int part) {
  const std::string key = key_ + "/" + std::to_string(splits_++) + ":" + std::to_string(part);
  return std::make_unique<ThreadCommunicator>(network_, key, std::move(name), world_ranks_of(members), own_world_rank(),
                                              lane());
}

}  // namespace trigram::threads
