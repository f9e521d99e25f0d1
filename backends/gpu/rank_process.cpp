#include "backends/gpu/rank_process.hpp"

#include <cstring>

#include "backends/gpu/devices.hpp"
#include "backends/gpu/host/nccl_words.hpp"
#include "core/error.hpp"
#include "core/placement.hpp"

namespace trigram::gpu {
namespace {

/// The ranks of whom `belongs` says so, in rank order.
template <class Belongs>
std::vector<int> ranks_where(const std::vector<int>& node_of_rank, Belongs belongs) {
  std::vector<int> ranks;
  for (int rank = 0; rank < static_cast<int>(node_of_rank.size()); ++rank) {
    if (belongs(placement(node_of_rank, rank))) ranks.push_back(rank);
  }
  return ranks;
}

std::vector<int> versions(const Rendezvous::Parts& parts) {
  std::vector<int> numbers;
  for (const Bytes& part : parts) numbers.push_back(std::atoi(text_of(part).c_str()));
  return numbers;
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

RankProcess::RankProcess(Rendezvous& rendezvous, std::vector<Seat> seats, double timeout,
                         std::function<void(const std::string&)> report, std::optional<int> device)
    : rendezvous_(rendezvous), seats_(std::move(seats)), settings_(set_missing(cuda_environment())) {
  const int rank = rendezvous_.rank();
  device_ = device ? *device : device_for(place_on_host(number_hosts(seats_), rank), device_count());
  Seat own = seats_[static_cast<std::size_t>(rank)];
  take_device(device_, own);
  const Rendezvous::Parts parts = rendezvous_.all_gather(own.packed(), {timeout});
  for (std::size_t r = 0; r < parts.size(); ++r) seats_[r] = Seat::from(parts[r]);
  settings_.merge(set_missing(nccl_environment(seats_, rank)));
  require_one_version(versions(rendezvous_.all_gather(bytes_of(std::to_string(nccl_version())), {timeout})));
  watchdog_ = std::make_unique<Watchdog>(rendezvous_, device_, std::move(report));
}

RankProcess::~RankProcess() { watchdog_->finish(); }

void RankProcess::finish() noexcept {
  watchdog_->finish();
  channels_.clear();
}

std::vector<LaneChannels*> RankProcess::channels(int lanes, const std::vector<int>& node_of_rank, double timeout) {
  watchdog_->use_timeout(timeout);
  auto& made = channels_[node_of_rank];
  while (static_cast<int>(made.size()) < lanes) {
    made.push_back(make_channels(static_cast<int>(made.size()), node_of_rank, timeout));
  }
  std::vector<LaneChannels*> wanted;
  for (int lane = 0; lane < lanes; ++lane) {
    LaneChannels& channels = *made[static_cast<std::size_t>(lane)];
    for (const auto& group : {channels.comm, channels.node, channels.leaders}) group->use_timeout(timeout);
    wanted.push_back(&channels);
  }
  return wanted;
}

std::unique_ptr<LaneChannels> RankProcess::make_channels(int lane, const std::vector<int>& node_of_rank,
                                                         double timeout) {
  const Placement place = placement(node_of_rank, rendezvous_.rank());
  const std::string who = "rank " + std::to_string(place.rank) + ", lane " + std::to_string(lane) + ", ";
  auto channels = std::make_unique<LaneChannels>(lane > 0);
  const ncclUniqueId id = shared_id(rendezvous_, {timeout});
  channels->comm = std::make_shared<NcclGroup>(who + "all ranks", id, place.ranks, place.rank, timeout);
  channels->node = channels->comm->split(who + "node", place.node, place.rank);
  channels->leaders = channels->comm->split(who + "leaders", place.local_rank, place.node);
  channels->all_ranks = ranks_where(node_of_rank, [](const Placement&) { return true; });
  channels->node_ranks = ranks_where(node_of_rank, [&](const Placement& other) { return other.node == place.node; });
  channels->leader_ranks =
      ranks_where(node_of_rank, [&](const Placement& other) { return other.local_rank == place.local_rank; });
  for (const auto& group : {channels->comm, channels->node, channels->leaders}) watchdog_->look_after(group, lane);
  return channels;
}

nlohmann::json RankProcess::facts() const {
  nlohmann::json devices = nlohmann::json::array();
  for (const Seat& seat : seats_)
    devices.push_back({{"host", seat.host}, {"name", seat.device_name}, {"id", seat.device}});
  return {{"nccl", version_text(nccl_version())},
          {"cuda_driver", driver_version()},
          {"devices", devices},
          {"shared_devices", shared_devices(seats_)},
          {"environment", settings_},
          {"rendezvous", rendezvous_.place()}};
}

}  // namespace trigram::gpu
