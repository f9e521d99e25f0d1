// Exchange between threads.
#include "tests/support/thread_communicator.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace trigram {

ThreadCommunicator::ThreadCommunicator(std::shared_ptr<ThreadNetwork> network, std::string group, int rank, int size,
                                       Device& device)
    : network_(std::move(network)),
      group_(std::move(group)),
      rank_(rank),
      size_(size),
      device_(device),
      outgoing_(static_cast<std::size_t>(size)),
      incoming_(static_cast<std::size_t>(size)) {}

void ThreadCommunicator::exchange(std::span<const Transfer> transfers) {
  for (const Transfer& transfer : transfers) {
    require(transfer.peer >= 0 && transfer.peer < size_, "peer " + std::to_string(transfer.peer) +
                                                             " is no rank of a group of " + std::to_string(size_) +
                                                             "; ranks count from 0");
  }
  const auto timeout = std::chrono::duration_cast<std::chrono::steady_clock::duration>(network_->timeout);
  const ThreadChannel::Deadline deadline = std::chrono::steady_clock::now() + timeout;
  std::vector<std::pair<int, std::uint64_t>> tickets;
  for (const Transfer& transfer : transfers) {
    if (transfer.direction != Transfer::Direction::send) continue;
    send(transfer, tickets);
  }
  std::vector<Transfer> receives;
  for (const Transfer& transfer : transfers) {
    if (transfer.direction == Transfer::Direction::receive) receives.push_back(transfer);
  }
  const bool swaps = network_->mutation == ThreadMutation::swaps_messages;
  if (swaps && receives.size() > 1 && receives[0].buffer.bytes() == receives[1].buffer.bytes()) {
    std::swap(receives[0].buffer, receives[1].buffer);
  }
  for (const Transfer& transfer : receives) receive(transfer, deadline);
  for (const auto& [peer, ticket] : tickets) {
    if (!outgoing(peer).wait_taken(ticket, deadline)) time_out("send to", peer);
  }
}

void ThreadCommunicator::send(const Transfer& transfer, std::vector<std::pair<int, std::uint64_t>>& tickets) {
  constexpr std::int64_t spoilt = 4;
  const bool spoils = ++sent_ == spoilt && rank_ == 1;
  if (spoils && network_->mutation == ThreadMutation::loses_a_message) return;
  ThreadChannel& channel = outgoing(transfer.peer);
  tickets.emplace_back(transfer.peer, channel.post(message_of(transfer.buffer)));
  if (spoils && network_->mutation == ThreadMutation::repeats_a_message) channel.post(message_of(transfer.buffer));
}

void ThreadCommunicator::receive(const Transfer& transfer, ThreadChannel::Deadline deadline) {
  Message message;
  if (!incoming(transfer.peer).take(message, deadline)) time_out("receive from", transfer.peer);
  const Buffer& buffer = transfer.buffer;
  const bool cuts = network_->mutation == ThreadMutation::cuts_messages && !message.bytes.empty() &&
                    buffer.bytes() == static_cast<std::int64_t>(message.bytes.size());
  if (cuts) message.bytes.back() = *(static_cast<const std::byte*>(buffer.raw()) + buffer.bytes() - 1);
  deliver(message, buffer, transfer.peer, rank_);
}

std::unique_ptr<Communicator> ThreadCommunicator::split(int color, int key) {
  const std::vector<std::int64_t> colors = all_gather_values(color);
  const std::vector<std::int64_t> keys = all_gather_values(key);
  std::vector<std::pair<std::int64_t, int>> members;
  for (int r = 0; r < size_; ++r) {
    const auto index = static_cast<std::size_t>(r);
    if (colors[index] == color) members.emplace_back(keys[index], r);
  }
  std::sort(members.begin(), members.end());
  const auto self = std::find(members.begin(), members.end(), std::pair<std::int64_t, int>(key, rank_));
  std::string group = group_ + "/" + std::to_string(splits_++) + ":" + std::to_string(color);
  auto child = std::make_unique<ThreadCommunicator>(
      network_, std::move(group), static_cast<int>(self - members.begin()), static_cast<int>(members.size()), device_);
  child->use_all_reduce(all_reduce_name());
  return child;
}

std::vector<std::int64_t> ThreadCommunicator::all_gather_values(std::int64_t value) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(size_));
  values[static_cast<std::size_t>(rank_)] = value;
  all_gather(Buffer(values.data(), Shape::of(size_, DType::i64)));
  return values;
}

ThreadChannel& ThreadCommunicator::outgoing(int peer) {
  std::shared_ptr<ThreadChannel>& channel = outgoing_[static_cast<std::size_t>(peer)];
  if (channel == nullptr) channel = network_->channels.find(group_, rank_, peer);
  return *channel;
}

ThreadChannel& ThreadCommunicator::incoming(int peer) {
  std::shared_ptr<ThreadChannel>& channel = incoming_[static_cast<std::size_t>(peer)];
  if (channel == nullptr) channel = network_->channels.find(group_, peer, rank_);
  return *channel;
}

void ThreadCommunicator::time_out(const char* doing, int peer) const {
  throw BackendError("rank " + std::to_string(rank_) + " of group " + group_ + " waited " +
                     std::to_string(network_->timeout.count()) + " s to " + doing + " rank " + std::to_string(peer));
}

}  // namespace trigram
