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

std::unique_ptr<Communicator> GpuCommunicator::split(int color, int key) {
  const std::vector<std::int64_t> colors = everybodys(color);
  const std::vector<std::int64_t> keys = everybodys(key);
  std::vector<std::pair<std::int64_t, int>> members;
  for (int member = 0; member < size(); ++member) {
    const auto place = static_cast<std::size_t>(member);
    if (colors[place] == color) members.emplace_back(keys[place], by_->world_ranks[place]);
  }
  std::ranges::stable_sort(members, {}, &std::pair<std::int64_t, int>::first);
  std::vector<int> world_ranks;
  for (const auto& [its_key, member] : members) world_ranks.push_back(member);
  // NCCL takes no negative color: the place of `color` among all that were given.
  const auto dense = std::ranges::count_if(colors, [&](std::int64_t other) { return other < color; });
  std::optional<Watchdog::HostCall> inside;
  if (group_->calls() == Calls::block) inside.emplace(lane_->watchdog, group_->name() + ": splitting it");
  std::shared_ptr<NcclGroup> part = group_->split("a part of " + group_->name(), static_cast<int>(dense), key);
  lane_->watchdog.look_after(part, lane_->index);
  auto communicator = like_this(std::move(part), std::move(world_ranks));
  communicator->use_all_reduce(all_reduce_name());
  return communicator;
}

std::vector<std::int64_t> GpuCommunicator::everybodys(std::int64_t value) {
  const OwnedBuffer memory = device().allocate(Shape::of(size(), DType::i64));
  const Buffer own = memory.view().slice(rank(), 1);
  device().upload(std::as_bytes(std::span(&value, 1)), own);
  Communicator::all_gather(memory.view());
  std::vector<std::int64_t> values(static_cast<std::size_t>(size()));
  device().download(memory, std::as_writable_bytes(std::span(values)));
  return values;
}

std::unique_ptr<Communicator> GpuCommunicator::like_this(std::shared_ptr<NcclGroup> group,
                                                         std::vector<int> world_ranks) const {
  return std::make_unique<GpuCommunicator>(std::move(group), "a group split from " + name(), std::move(world_ranks),
                                           lane_);
}

}  // namespace trigram::gpu
