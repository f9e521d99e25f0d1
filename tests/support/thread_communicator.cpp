// Exchange between threads.
#include "tests/support/thread_communicator.hpp"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

namespace trigram {

namespace {

Message message_of(const Buffer& buffer) {
  Message message{buffer.shape(), std::vector<std::byte>(static_cast<std::size_t>(buffer.bytes()))};
  if (!message.bytes.empty()) std::memcpy(message.bytes.data(), buffer.raw(), message.bytes.size());
  return message;
}

std::string words(const Shape& shape) {
  return std::to_string(shape.count) + " elements (" + std::to_string(shape.modelled_count) + " modelled) of " +
         std::string(name_of(shape.dtype)) + (shape.phantom ? ", phantom" : "");
}

bool agree(const Shape& a, const Shape& b) {
  return a.phantom == b.phantom && a.count * size_of(a.dtype) == b.count * size_of(b.dtype) &&
         a.modelled_count * size_of(a.dtype) == b.modelled_count * size_of(b.dtype);
}

}  // namespace

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
  const Channel::Deadline deadline = std::chrono::steady_clock::now() + timeout;
  std::vector<std::pair<int, std::uint64_t>> tickets;
  for (const Transfer& transfer : transfers) {
    if (transfer.direction != Transfer::Direction::send) continue;
    tickets.emplace_back(transfer.peer, outgoing(transfer.peer).post(message_of(transfer.buffer)));
  }
  for (const Transfer& transfer : transfers) {
    if (transfer.direction == Transfer::Direction::receive) receive(transfer, deadline);
  }
  for (const auto& [peer, ticket] : tickets) {
    if (!outgoing(peer).wait_taken(ticket, deadline)) time_out("send to", peer);
  }
}

void ThreadCommunicator::receive(const Transfer& transfer, Channel::Deadline deadline) {
  Message message;
  if (!incoming(transfer.peer).take(message, deadline)) time_out("receive from", transfer.peer);
  ensure(agree(message.shape, transfer.buffer.shape()),
         "rank " + std::to_string(transfer.peer) + " sent " + words(message.shape) + " and rank " +
             std::to_string(rank_) + " expected " + words(transfer.buffer.shape()));
  if (!message.bytes.empty()) std::memcpy(transfer.buffer.raw(), message.bytes.data(), message.bytes.size());
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

Channel& ThreadCommunicator::outgoing(int peer) {
  std::shared_ptr<Channel>& channel = outgoing_[static_cast<std::size_t>(peer)];
  if (channel == nullptr) channel = network_->channels.find(group_, rank_, peer);
  return *channel;
}

Channel& ThreadCommunicator::incoming(int peer) {
  std::shared_ptr<Channel>& channel = incoming_[static_cast<std::size_t>(peer)];
  if (channel == nullptr) channel = network_->channels.find(group_, peer, rank_);
  return *channel;
}

void ThreadCommunicator::time_out(const char* doing, int peer) const {
  throw BackendError("rank " + std::to_string(rank_) + " of group " + group_ + " waited " +
                     std::to_string(network_->timeout.count()) + " s to " + doing + " rank " + std::to_string(peer));
}

}  // namespace trigram
