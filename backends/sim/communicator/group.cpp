// Makes channels when they are first used.
#include "backends/sim/communicator/group.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <string>

#include "backends/sim/engine/blocking.hpp"
#include "backends/sim/simulation.hpp"
#include "core/values/error.hpp"

namespace trigram::sim {

namespace {

/// Mailboxes are found by name once, and have a number for a name.
simgrid::s4u::Mailbox* new_mailbox() {
  static std::int64_t made = 0;
  return simgrid::s4u::Mailbox::by_name(std::to_string(made++));
}

}  // namespace

Group::Group(Simulation& simulation, std::vector<int> members, int lane, std::string name)
    : Members(std::move(members), std::move(name)),
      simulation_(simulation),
      lane_(lane),
      channels_(static_cast<std::size_t>(size())),
      meeting_(size()) {
  const auto n = static_cast<std::size_t>(size());
  meeting_.buffers.resize(n);
  meeting_.send.resize(n);
  meeting_.receive.resize(n);
  meeting_.sizes.resize(n);
  meeting_.brought.resize(n);
  std::map<int, std::vector<int>> nodes;
  for (std::size_t rank = 0; rank < n; ++rank) {
    nodes[simulation.platform().node_of_rank[static_cast<std::size_t>(this->members()[rank])]].push_back(
        static_cast<int>(rank));
  }
  node_of_.resize(n);
  local_rank_.resize(n);
  for (const auto& [node, ranks] : nodes) {
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      node_of_[static_cast<std::size_t>(ranks[i])] = static_cast<int>(by_node_.size());
      local_rank_[static_cast<std::size_t>(ranks[i])] = static_cast<int>(i);
    }
    by_node_.push_back(ranks);
  }
  symmetry_ = find_symmetry();
}

Symmetry Group::find_symmetry() const {
  const Cluster& cluster = simulation_.cluster();
  const std::vector<int>& node_of_rank = simulation_.platform().node_of_rank;
  const int nodes = static_cast<int>(by_node_.size());
  if (nodes == 1) {
    const auto [first, end] = std::equal_range(node_of_rank.begin(), node_of_rank.end(),
                                               node_of_rank[static_cast<std::size_t>(members().front())]);
    return end - first == size() && cluster.alike_in_nodes() ? Symmetry::node : Symmetry::none;
  }
  const int all_nodes = node_of_rank.back() + 1;
  const int ranks = static_cast<int>(node_of_rank.size());
  if (nodes != all_nodes || ranks % nodes != 0 || size() % nodes != 0 || !cluster.alike_between_nodes())
    return Symmetry::none;
  const int of_node = size() / nodes;
  for (int rank = 0; rank < size(); ++rank) {
    const int like = member(rank % of_node) + rank / of_node * (ranks / nodes);
    if (node_of(rank) != rank / of_node || member(rank) != like) return Symmetry::none;
  }
  return Symmetry::nodes;
}

void Group::fail(int rank) {
  const bool is_planned = simulation_.failures().dead(member(rank)) && simulation_.losses().includes(member(rank));
  if (failed_rank_ >= 0 || is_planned) return;
  failed_rank_ = member(rank);
  failed_at_ = simulation_.now();
}

bool Group::ending() const { return simulation_.failures().failing(); }

void Group::throw_failed(int rank) const {
  simulation_.failures().require_alive(member(rank), failed_rank_);
  throw BackendError(simulation_.failures().lost(member(rank), failed_rank_,
                                                 "an exchange of rank " + std::to_string(failed_rank_) +
                                                     " on the same lane failed at " + seconds_text(failed_at_)));
}

Group::WaitForAll::WaitForAll(Group& group, int rank, double since) : group_(group), rank_(rank) {
  const Losses& losses = group.simulation_.losses();
  if (losses.any()) group_.wait_ends_[rank] = losses.wait_ends(group.member(rank), group.members(), since);
}

double Group::WaitForAll::ends() const {
  double first = std::numeric_limits<double>::infinity();
  for (const auto& [rank, ends] : group_.wait_ends_) first = std::min(first, ends);
  return first;
}

double Group::now() const { return simulation_.now(); }

bool Group::lacks_one() const {
  return std::ranges::any_of(members(), [this](int one) { return simulation_.failures().dead(one); });
}

void Group::require_all_there(int rank) {
  for (const int peer : members()) simulation_.failures().require_alive(member(rank), peer);
  if (!lacks_one()) return;
  const WaitForAll wait(*this, rank, now());
  blocking([&] { simgrid::s4u::this_actor::sleep_until(wait.ends()); });
  throw_lost(rank);
}

void Group::throw_lost(int rank) {
  int gone = -1;
  for (const int peer : members()) {
    if (!simulation_.failures().dead(peer)) continue;
    simulation_.losses().miss(member(rank), peer);
    gone = peer;
  }
  if (gone < 0) throw_failed(rank);
  throw BackendError(Failures::lost(member(rank), gone, "its host failed"));
}

void Group::wait_at_gate(int rank) {
  const WaitForAll wait(*this, rank, now());
  {
    const Standstill::Rest rest(simulation_.watch().standstill());
    if (meeting_.gate.wait_until(wait.ends())) return;
  }
  fail(rank);
  throw_lost(rank);
}

void Group::require_same_work(int rank, int other) const {
  const LaneWork& mine = simulation_.work(member(rank), lane_);
  const LaneWork& its = simulation_.work(member(other), lane_);
  const bool same_step = mine.step == its.step || lane_ == simulation_.layout().background();
  if ((same_step && mine.body == its.body) || ending()) return;
  const bool other_is_short = same_step ? its.body < mine.body : its.step > mine.step;
  const std::string one = std::to_string(member(other_is_short ? other : rank));
  const std::string another = std::to_string(member(other_is_short ? rank : other));
  throw Error("messages have met that were not meant for each other, in " + name() + ": that of " +
              simulation_.watch().where(member(rank), lane_) + ", and that of " +
              simulation_.watch().where(member(other), lane_) + "; rank " + one +
              " has left out an exchange, or rank " + another +
              " has made one too many: all ranks of a group start the same ones in the same order");
}

Channel& Group::channel(int from, int to) {
  Channel& channel = channels_[static_cast<std::size_t>(from)][to];
  if (channel.mailbox == nullptr) {
    simgrid::s4u::Mailbox* made = new_mailbox();  // other actors run meanwhile, perhaps the one at the other end
    if (channel.mailbox == nullptr) channel.mailbox = made;
  }
  return channel;
}

}  // namespace trigram::sim
