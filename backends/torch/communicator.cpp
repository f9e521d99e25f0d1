#include "backends/torch/communicator.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "core/values/error.hpp"

namespace trigram::torch {

std::int64_t LaneTags::tag(std::int64_t group, std::int64_t bytes) const {
  constexpr std::int64_t groups = 32768, sizes = 65521;  // together less than 2^31; the last is prime
  return group % groups * sizes + (keep_sizes_apart_ ? bytes % sizes : 0);
}

TorchCommunicator::TorchCommunicator(std::string name, std::vector<int> world_ranks, std::int64_t group,
                                     std::shared_ptr<LaneLine> line)
    : ProcessCommunicator(std::move(name), std::move(world_ranks), line->point_to_point.rank(), line->context),
      group_(group),
      line_(std::move(line)) {}

void TorchCommunicator::exchange(std::span<const Transfer> transfers) {
  const std::vector<Message> messages = begun(transfers);
  if (messages.empty()) return;
  line_->point_to_point.exchange(line_->index, messages, lane()->timeout,
                                 {[this] { return describe("exchange"); },
                                  [&](int place) { return described(messages[static_cast<std::size_t>(place)]); }});
}

std::vector<int> TorchCommunicator::exchange_with_those_there(std::span<const Transfer> transfers) {
  if (!line_->point_to_point.leaves_out()) return Communicator::exchange_with_those_there(transfers);
  const std::vector<Message> messages = begun(transfers);
  if (messages.empty()) return {};
  const Operation operation{[this] { return describe("exchange"); }, {}};
  const auto failed =
      line_->point_to_point.exchange_with_those_there(line_->index, messages, lane()->timeout, operation);
  return peers_of(messages, failed);
}

bool TorchCommunicator::with_all_there(const std::function<void()>& collectives) {
  if (!line_->point_to_point.leaves_out()) return Communicator::with_all_there(collectives);
  try {
    collectives();
    return true;
  } catch (const BackendError&) {
    line_->point_to_point.end_all();
    return false;
  }
}

std::vector<Message> TorchCommunicator::begun(std::span<const Transfer> transfers) {
  if (transfers.empty()) return {};
  count_operation();
  require_possible(transfers, "torch");
  copy_to_itself(transfers);
  return messages_of(transfers);
}

/// Ranks of the group, in ascending order.
std::vector<int> TorchCommunicator::peers_of(std::span<const Message> messages,
                                             std::span<const std::size_t> places) const {
  std::set<int> peers;
  for (const std::size_t place : places) {
    const auto rank = std::ranges::find(world_ranks(), static_cast<int>(messages[place].peer));
    peers.insert(static_cast<int>(rank - world_ranks().begin()));
  }
  return {peers.begin(), peers.end()};
}

/// torch.distributed has no connection from a rank to itself.
void TorchCommunicator::copy_to_itself(std::span<const Transfer> transfers) {
  std::array<std::vector<Buffer>, 2> own;
  for (const Transfer& transfer : transfers) {
    if (transfer.peer == rank()) own[is_receive(transfer) ? 1 : 0].push_back(transfer.buffer);
  }
  const auto& [sent, received] = own;
  const auto same = [](const Buffer& from, const Buffer& to) { return from.bytes() == to.bytes(); };
  require(std::ranges::equal(sent, received, same), "rank ", rank(),
          " sends to itself what it does not receive in the same exchange");
  for (std::size_t i = 0; i < sent.size(); ++i) device().copy(sent[i].as(DType::u8), received[i].as(DType::u8));
}

/// Receives come first, so that what arrives finds its place.
std::vector<Message> TorchCommunicator::messages_of(std::span<const Transfer> transfers) const {
  std::vector<Message> messages;
  for (const bool receives : {true, false}) {
    for (const Transfer& transfer : transfers) {
      if (is_receive(transfer) != receives || transfer.peer == rank()) continue;
      messages.push_back(
          message_of(transfer, world_rank(transfer.peer), line_->tags.tag(group_, transfer.buffer.bytes())));
    }
  }
  return messages;
}

/// Numbers of groups grow on every rank of a split to one that none of them has used.
std::unique_ptr<Communicator> TorchCommunicator::make_part(std::string name, const std::vector<int>& members,
                                                           int /*part*/) {
  const std::int64_t group = std::ranges::max(all_gather_number(line_->tags.groups()));
  line_->tags.use_groups(group + 1);
  return std::make_unique<TorchCommunicator>(std::move(name), world_ranks_of(members), group, line_);
}

}  // namespace trigram::torch
