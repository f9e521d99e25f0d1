#include "backends/gpu/communicator.hpp"

#include <algorithm>
#include <optional>

#include "core/lane/real_data.hpp"
#include "core/values/error.hpp"

namespace trigram::gpu {
namespace {

bool is_receive(const Transfer& transfer) { return transfer.direction == Transfer::Direction::receive; }

}  // namespace

GpuCommunicator::GpuCommunicator(std::shared_ptr<NcclGroup> group, std::string name, std::vector<int> world_ranks,
                                 std::shared_ptr<const StreamContext> lane)
    : group_(std::move(group)), lane_(std::move(lane)) {
  const int world_rank = world_ranks.at(static_cast<std::size_t>(group_->rank()));
  by_ = std::make_shared<const Orderer>(
      Orderer{world_rank, lane_->name, std::move(name), std::move(world_ranks), lane_->index, lane_->stream});
}

void GpuCommunicator::exchange(std::span<const Transfer> transfers) {
  std::vector<Transfer> with_others;
  for (const Transfer& transfer : transfers) {
    check(transfer);
    if (transfer.peer != rank()) with_others.push_back(transfer);
  }
  if (with_others.size() < transfers.size()) copy_to_oneself(transfers);
  if (with_others.empty()) return;
  begin("exchange", 0, with_others);
  group_->call("exchange", [&](ncclComm_t comm) {
    GroupOfCalls calls;
    for (const Transfer& transfer : with_others) {
      const bool empty = transfer.buffer.bytes() == 0;
      const Buffer bytes = empty ? lane_->nothing.slice(is_receive(transfer) ? 1 : 0, 1) : transfer.buffer;
      const auto count = static_cast<std::size_t>(bytes.bytes());
      calls.add(is_receive(transfer) ? nccl().recv(bytes.raw(), count, ncclUint8, transfer.peer, comm, lane_->stream)
                                     : nccl().send(bytes.raw(), count, ncclUint8, transfer.peer, comm, lane_->stream));
    }
    return calls.close();
  });
  lane_->watchdog.recorder().end();
}

void GpuCommunicator::begin(const char* operation, std::int64_t bytes, std::vector<Transfer> transfers) {
  const std::string within = device().timeline().doing();
  if (!within.empty() && !within.starts_with("exchange")) lane_->on_collective(size());
  lane_->watchdog.recorder().begin(by_, operation, ++sequence_, bytes, std::move(transfers), within);
}

void GpuCommunicator::check(const Transfer& transfer) const {
  require(transfer.peer >= 0 && transfer.peer < size(), "rank ", transfer.peer, " is no rank of a group of ", size(),
          "; ranks count from 0");
  require_data(transfer.buffer, "gpu");
}

/// Within one exchange, sends and receives to oneself match in their order.
void GpuCommunicator::copy_to_oneself(std::span<const Transfer> transfers) {
  std::vector<Buffer> sent;
  std::vector<Buffer> received;
  for (const Transfer& transfer : transfers) {
    if (transfer.peer == rank()) (is_receive(transfer) ? received : sent).push_back(transfer.buffer);
  }
  ensure(sent.size() == received.size(),
         "rank " + std::to_string(rank()) + " exchanges " + std::to_string(sent.size()) + " sends and " +
             std::to_string(received.size()) + " receives with itself; each needs the other");
  const Device::Uncharged free(device());
  for (std::size_t i = 0; i < sent.size(); ++i) {
    ensure(sent[i].bytes() == received[i].bytes(),
           "a message of " + std::to_string(sent[i].bytes()) + " bytes to oneself does not fill a receive of " +
               std::to_string(received[i].bytes()) + "; both ends must name the same size");
    if (sent[i].bytes() > 0) device().copy(sent[i].as(DType::u8), received[i].as(DType::u8));
  }
}

void GpuCommunicator::order(const char* collective, std::int64_t bytes,
                            const std::function<ncclResult_t(ncclComm_t)>& call) {
  begin(collective, bytes, {});
  group_->call(collective, call);
  lane_->watchdog.recorder().end();
}

// NCCL takes no negative color: the place of the part among all.
std::unique_ptr<Communicator> GpuCommunicator::regroup(const GroupPart& part) {
  std::vector<int> world_ranks;
  for (const int member : part.members) world_ranks.push_back(by_->world_ranks[static_cast<std::size_t>(member)]);
  const auto place = static_cast<int>(std::ranges::find(part.members, rank()) - part.members.begin());
  std::optional<Watchdog::HostCall> inside;
  if (group_->calls() == Calls::block) inside.emplace(lane_->watchdog, group_->name() + ": splitting it");
  std::shared_ptr<NcclGroup> made = group_->split("a part of " + group_->name(), part.index, place);
  lane_->watchdog.look_after(made, lane_->index);
  return like_this(std::move(made), std::move(world_ranks));
}

std::unique_ptr<Communicator> GpuCommunicator::like_this(std::shared_ptr<NcclGroup> group,
                                                         std::vector<int> world_ranks) const {
  return std::make_unique<GpuCommunicator>(std::move(group), "a group split from " + name(), std::move(world_ranks),
                                           lane_);
}

}  // namespace trigram::gpu
