#include "backends/torch/communicator.hpp"

#include <algorithm>
#include <array>
#include <tuple>

#include "core/error.hpp"
#include "core/real_data.hpp"

namespace trigram::torch {
namespace {

bool is_receive(const Transfer& transfer) { return transfer.direction == Transfer::Direction::receive; }

}  // namespace

std::int64_t LaneTags::tag(std::int64_t group, std::int64_t bytes) const {
  constexpr std::int64_t groups = 32768, sizes = 65521;  // together less than 2^31; the last is prime
  return group % groups * sizes + bytes % sizes;
}

TorchCommunicator::TorchCommunicator(std::string name, std::vector<int> world_ranks, std::int64_t group,
                                     std::shared_ptr<LaneLine> line)
    : name_(std::move(name)),
      world_ranks_(std::move(world_ranks)),
      group_(group),
      line_(std::move(line)),
      rank_(static_cast<int>(std::ranges::find(world_ranks_, line_->carrier.rank()) - world_ranks_.begin())) {}

void TorchCommunicator::exchange(std::span<const Transfer> transfers) {
  if (transfers.empty()) return;
  ++sequence_;
  std::ranges::for_each(transfers, [this](const Transfer& transfer) { check(transfer); });
  copy_to_itself(transfers);
  const std::vector<Message> messages = messages_of(transfers);
  if (messages.empty()) return;
  const LaneContext& context = *line_->context;
  line_->carrier.carry(
      line_->index, messages, context.timeout,
      {[this] { return describe(); }, [&](int place) { return described(messages[static_cast<std::size_t>(place)]); }});
}

void TorchCommunicator::check(const Transfer& transfer) const {
  require(transfer.peer >= 0 && transfer.peer < size(), "rank ", transfer.peer, " is no rank of a group of ", size(),
          "; ranks count from 0");
  require_data(transfer.buffer, "torch");
}

/// torch.distributed has no connection from a rank to itself.
void TorchCommunicator::copy_to_itself(std::span<const Transfer> transfers) {
  std::array<std::vector<Buffer>, 2> own;
  for (const Transfer& transfer : transfers) {
    if (transfer.peer == rank_) own[is_receive(transfer) ? 1 : 0].push_back(transfer.buffer);
  }
  const auto& [sent, received] = own;
  const auto same = [](const Buffer& from, const Buffer& to) { return from.bytes() == to.bytes(); };
  require(std::ranges::equal(sent, received, same), "rank ", rank_,
          " sends to itself what it does not receive in the same exchange");
  for (std::size_t i = 0; i < sent.size(); ++i) device().copy(sent[i].as(DType::u8), received[i].as(DType::u8));
}

/// Receives come first, so that what arrives finds its place.
std::vector<Message> TorchCommunicator::messages_of(std::span<const Transfer> transfers) const {
  std::vector<Message> messages;
  for (const bool receives : {true, false}) {
    for (const Transfer& transfer : transfers) {
      if (is_receive(transfer) != receives || transfer.peer == rank_) continue;
      messages.push_back(message_of(transfer, world_ranks_[static_cast<std::size_t>(transfer.peer)],
                                    line_->tags.tag(group_, transfer.buffer.bytes())));
    }
  }
  return messages;
}

std::string TorchCommunicator::describe() const {
  const std::string doing = line_->context->device.timeline().doing();
  return line_->context->place(line_->carrier.rank()) + ", " + name_ + ": exchange number " +
         std::to_string(sequence_) + (doing.empty() || doing == "exchange" ? "" : " (in " + doing + ")");
}

/// Numbers of groups grow on every rank of a split to one that none of them has used.
std::unique_ptr<Communicator> TorchCommunicator::split(int color, int key) {
  struct Place {
    std::int64_t color, key, groups;
  };
  constexpr std::int64_t numbers = 3;
  std::vector<Place> places(world_ranks_.size());
  places[static_cast<std::size_t>(rank_)] = {color, key, line_->tags.groups()};
  const Buffer all(places.data(), Shape::of(numbers * size(), DType::i64));
  std::vector<Buffer> parts;
  for (int rank = 0; rank < size(); ++rank) parts.push_back(all.slice(numbers * rank, numbers));
  all_gather(parts);
  const std::int64_t group = std::ranges::max(places, {}, &Place::groups).groups;
  line_->tags.use_groups(group + 1);
  std::vector<std::tuple<std::int64_t, int>> members;
  for (int rank = 0; rank < size(); ++rank) {
    const Place& place = places[static_cast<std::size_t>(rank)];
    if (place.color == color) members.emplace_back(place.key, rank);
  }
  std::ranges::sort(members);
  std::vector<int> world_ranks;
  for (const auto& [its_key, rank] : members) world_ranks.push_back(world_ranks_[static_cast<std::size_t>(rank)]);
  auto made = std::make_unique<TorchCommunicator>("a group split from " + name_, std::move(world_ranks), group, line_);
  made->use_all_reduce(all_reduce_name());
  return made;
}

}  // namespace trigram::torch
