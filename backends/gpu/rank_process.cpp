#include "backends/gpu/rank_process.hpp"

#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>

#include "backends/gpu/devices.hpp"
#include "backends/gpu/host/nccl_words.hpp"
#include "core/values/error.hpp"
#include "kernels/cuda/runtime/check.hpp"
#include "kernels/cuda/runtime/cublas.hpp"

namespace trigram::gpu {
namespace {

std::vector<int> versions(const Rendezvous::Parts& parts) {
  std::vector<int> numbers;
  for (const Bytes& part : parts) numbers.push_back(std::atoi(text_of(part).c_str()));
  return numbers;
}

std::string installed_driver() {
  std::ifstream file("/proc/driver/nvidia/version");
  return driver_in({std::istreambuf_iterator<char>(file), {}});
}

/// Rank 0's, on every rank.
ncclUniqueId shared_id(Rendezvous& rendezvous, Patience patience) {
  Bytes own;
  if (rendezvous.rank() == 0) {
    const ncclUniqueId id = make_unique_id();
    own.resize(sizeof id);
    std::memcpy(own.data(), &id, sizeof id);
  }
  const Rendezvous::Parts parts = rendezvous.all_gather(own, patience);
  ncclUniqueId id;
  ensure(parts.front().size() == sizeof id, "rank 0 gave no identifier for a group of NCCL");
  std::memcpy(&id, parts.front().data(), sizeof id);
  return id;
}

}  // namespace

RankProcess::RankProcess(Rendezvous& rendezvous, std::vector<RankLocation> locations, double timeout,
                         std::function<void(const std::string&)> report, Calls calls, std::optional<int> device,
                         std::shared_ptr<WayOut> way_out)
    : rendezvous_(rendezvous),
      locations_(std::move(locations)),
      calls_(calls),
      way_out_(std::move(way_out)),
      settings_(set_missing(cuda_environment())) {
  const int rank = rendezvous_.rank();
  device_ = device ? *device : device_for(place_on_host(number_hosts(locations_), rank), device_count());
  RankLocation own = locations_[static_cast<std::size_t>(rank)];
  take_device(device_, own);
  const Rendezvous::Parts parts = rendezvous_.all_gather(own.packed(), {timeout});
  for (std::size_t r = 0; r < parts.size(); ++r) locations_[r] = RankLocation::from(parts[r]);
  if (way_out_ != nullptr) require_devices_of_their_own(locations_, rank);
  settings_.merge(set_missing(nccl_environment(locations_, rank)));
  require_one_version(versions(rendezvous_.all_gather(bytes_of(std::to_string(nccl_version())), {timeout})));
  watchdog_ = std::make_unique<Watchdog>(rendezvous_, device_, std::move(report), way_out_);
}

RankProcess::~RankProcess() { watchdog_->finish(); }

void RankProcess::finish() noexcept {
  watchdog_->finish();
  channels_.clear();
}

std::vector<LaneChannels*> RankProcess::channels(int lanes, const std::vector<RankPartition>& partitions,
                                                 double timeout) {
  watchdog_->use_timeout(timeout);
  auto& made = channels_[partitions];
  while (static_cast<int>(made.size()) < lanes) {
    made.push_back(make_channels(static_cast<int>(made.size()), partitions, timeout));
  }
  std::vector<LaneChannels*> wanted;
  for (int lane = 0; lane < lanes; ++lane) {
    wanted.push_back(made[static_cast<std::size_t>(lane)].get());
    wanted.back()->all->use_timeout(timeout);
    for (const GroupOfLane& group : wanted.back()->groups) group.group->use_timeout(timeout);
  }
  return wanted;
}

std::unique_ptr<LaneChannels> RankProcess::make_channels(int lane, const std::vector<RankPartition>& partitions,
                                                         double timeout) {
  const int rank = rendezvous_.rank(), ranks = rendezvous_.ranks();
  const std::string who = "rank " + std::to_string(rank) + ", lane " + std::to_string(lane) + ", ";
  auto made = std::make_unique<LaneChannels>(lane > 0);
  std::optional<Watchdog::HostCall> inside;  // one a group: each may take as long as one operation
  const auto go_into = [&](const std::string& what) {
    if (calls_ == Calls::block) inside.emplace(*watchdog_, who + what);
  };
  go_into("making the group of all ranks");
  made->all = std::make_shared<NcclGroup>(who + "all ranks", shared_id(rendezvous_, {timeout}), ranks, rank, timeout,
                                          calls_, way_out_);
  watchdog_->look_after(made->all, lane);
  for (const RankPartition& partition : partitions) {
    const std::vector<int> members = partition.group_of(rank);
    const auto self = static_cast<std::size_t>(rank);
    // Without a mesh the first group is all ranks. No two groups share what messages match on.
    const bool is_all = made->groups.empty() && static_cast<int>(members.size()) == ranks;
    if (!is_all) go_into("making the group " + partition.name);
    std::shared_ptr<NcclGroup> group =
        is_all ? made->all : made->all->split(who + partition.name, partition.color[self], partition.key[self]);
    if (!is_all) watchdog_->look_after(group, lane);
    made->groups.push_back({partition.name, std::move(group), members});
  }
  for (const GroupOfLane& group : made->groups) {
    go_into("the first exchange of " + group.name);
    warm_up(group, *made, lane);
  }
  return made;
}

/// A byte to and from each neighbour in the ring of ranks, before any clock runs: NCCL makes connections, and much
/// else, at the first message.
void RankProcess::warm_up(const GroupOfLane& group, const LaneChannels& channels, int lane) {
  const int ranks = group.group->size();
  if (ranks == 1) return;
  const cudaStream_t stream = channels.stream.get();
  constexpr std::size_t bytes = 4;
  std::byte* memory = nullptr;
  cuda::check(cudaMallocAsync(&memory, bytes, stream), "cudaMallocAsync");
  cuda::check(cudaMemsetAsync(memory, 0, bytes, stream), "cudaMemsetAsync");
  const int next = (group.group->rank() + 1) % ranks;
  const int before = (group.group->rank() + ranks - 1) % ranks;
  const auto by = std::make_shared<const Orderer>(
      Orderer{rendezvous_.rank(), "lane " + std::to_string(lane), group.name, group.world_ranks, lane, stream});
  watchdog_->recorder().begin(by, "first exchange", 0, bytes, {}, "");
  group.group->call("the first exchange", [&](ncclComm_t comm) {
    GroupOfCalls calls;
    calls.add(nccl().send(memory, 1, ncclUint8, next, comm, stream));
    calls.add(nccl().send(memory + 1, 1, ncclUint8, before, comm, stream));
    calls.add(nccl().recv(memory + 2, 1, ncclUint8, before, comm, stream));
    calls.add(nccl().recv(memory + 3, 1, ncclUint8, next, comm, stream));
    return calls.close();
  });
  watchdog_->recorder().end();
  cuda::check(cudaFreeAsync(memory, stream), "cudaFreeAsync");
}

nlohmann::json RankProcess::facts() const {
  nlohmann::json devices = nlohmann::json::array();
  for (const RankLocation& location : locations_)
    devices.push_back({{"host", location.host}, {"name", location.device_name}, {"id", location.device}});
  const std::string nccl = version_text(nccl_version()), library = nccl_path(), kernel_driver = installed_driver();
  const std::string products = cuda::Cublas::used();
  return {{"nccl", nccl},
          {"matrix_products", products},
          {"nccl_library", library},
          {"driver", kernel_driver},
          {"uses", devices_text(locations_) + ", driver " + (kernel_driver.empty() ? "" : kernel_driver + " ") +
                       "with CUDA " + driver_version() + ", NCCL " + nccl + " of " + library + ", matrix products by " +
                       products},
          {"cuda_driver", driver_version()},
          {"devices", devices},
          {"shared_devices", shared_devices(locations_)},
          {"environment", settings_},
          {"nccl_calls", calls_ == Calls::block ? "block" : "ask"},
          {"rendezvous", rendezvous_.place()}};
}

}  // namespace trigram::gpu
