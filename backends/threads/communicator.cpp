#include "backends/threads/communicator.hpp"

#include <algorithm>
#include <utility>

#include "core/error.hpp"

namespace trigram::threads {

ThreadCommunicator::ThreadCommunicator(LaneOnNetwork lane, std::string name, std::string key,
                                       std::vector<int> world_ranks)
    : lane_(std::move(lane)),
      name_(std::move(name)),
      key_(std::move(key)),
      world_ranks_(std::move(world_ranks)),
      rank_(static_cast<int>(std::ranges::find(world_ranks_, lane_.rank) - world_ranks_.begin())),
      outgoing_(world_ranks_.size()),
      incoming_(world_ranks_.size()) {}

void ThreadCommunicator::exchange(std::span<const Transfer> transfers) {
  ++sequence_;
  for (const Transfer& transfer : transfers) {
    require(transfer.peer >= 0 && transfer.peer < size(), "rank ", transfer.peer, " is no rank of a group of ", size(),
            "; ranks count from 0");
  }
  const LaneContext& context = *lane_.context;
  Batch batch;
  for (const Transfer& transfer : transfers)
    batch.add(channel(transfer), transfer, world_ranks_[static_cast<std::size_t>(transfer.peer)]);
  batch.finish({lane_.network->ending, context.failure, lane_.rank, context.timeout, [this] { return describe(); }});
}

std::shared_ptr<Channel> ThreadCommunicator::channel(const Transfer& transfer) {
  const bool sends = transfer.direction == Transfer::Direction::send;
  std::shared_ptr<Channel>& channel = (sends ? outgoing_ : incoming_)[static_cast<std::size_t>(transfer.peer)];
  if (channel == nullptr) {
    channel = sends ? lane_.network->channels.find(key_, rank_, transfer.peer)
                    : lane_.network->channels.find(key_, transfer.peer, rank_);
  }
  return channel;
}

std::string ThreadCommunicator::describe() const {
  const std::string doing = lane_.context->device.timeline().doing();
  return lane_.context->place(lane_.rank) + ", " + name_ + ": exchange number " + std::to_string(sequence_) +
         (doing.empty() || doing == "exchange" ? "" : " (in " + doing + ")");
}

std::unique_ptr<Communicator> ThreadCommunicator::split(int color, int key) {
  const std::vector<std::int64_t> colors = everybodys(color);
  const std::vector<std::int64_t> keys = everybodys(key);
  std::vector<std::pair<std::int64_t, int>> members;
  for (int rank = 0; rank < size(); ++rank) {
    const auto index = static_cast<std::size_t>(rank);
    if (colors[index] == color) members.emplace_back(keys[index], world_ranks_[index]);
  }
  std::ranges::stable_sort(members, {}, &std::pair<std::int64_t, int>::first);
  std::vector<int> world_ranks;
  for (const auto& [its_key, rank] : members) world_ranks.push_back(rank);
  auto part = std::make_unique<ThreadCommunicator>(lane_, "a group split from " + name_,
                                                   key_ + "/" + std::to_string(splits_++) + ":" + std::to_string(color),
                                                   std::move(world_ranks));
  part->use_all_reduce(all_reduce_name());
  return part;
}

std::vector<std::int64_t> ThreadCommunicator::everybodys(std::int64_t value) {
  std::vector<std::int64_t> values(world_ranks_.size());
  values[static_cast<std::size_t>(rank_)] = value;
  all_gather(Buffer(values.data(), Shape::of(size(), DType::i64)));
  return values;
}

}  // namespace trigram::threads
