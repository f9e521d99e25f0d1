#include "backends/sim/watch.hpp"

#include <algorithm>
#include <cmath>

#include "backends/sim/engine/blocking.hpp"
#include "core/values/error.hpp"

namespace trigram::sim {

namespace sg = simgrid::s4u;

namespace {

/// How long an operation lasts before somebody looks whether it can still end.
double patience(const Cluster& cluster) {
  constexpr double hour = 3600;
  return cluster.timeout > 0 ? cluster.timeout : hour;
}

/// "a send of 8 bytes to rank 3".
std::string text_of(const Transfer& message, const Members& group) {
  const bool sends = message.direction == Transfer::Direction::send;
  return std::string(sends ? "a send" : "a receive") + " of " + std::to_string(message.buffer.modelled_bytes()) +
         " bytes " + (sends ? "to" : "from") + " rank " + std::to_string(group.member(message.peer));
}

/// So many of an exchange's messages but the one that is awaited: the wrong peer may be in any, so few are left out.
std::string text_of_others(std::span<const Transfer> all, const Transfer& awaited, std::size_t open,
                           const Members& group) {
  constexpr std::size_t shown = 8;
  std::vector<std::string> others;
  for (const Transfer& message : all) {
    if (message.direction != awaited.direction || message.peer != awaited.peer)
      others.push_back(text_of(message, group));
  }
  if (others.empty()) return std::to_string(open) + " more like it";
  std::string text = others.size() > open ? std::to_string(open) + " of " : "";
  for (std::size_t i = 0; i < std::min(shown, others.size()); ++i) text += (i == 0 ? "" : ", ") + others[i];
  return text + (others.size() > shown ? " and " + std::to_string(others.size() - shown) + " more" : "");
}

}  // namespace

Watch::Watch(const Cluster& cluster, const LaneLayout& layout, int ranks, Failures& failures)
    : cluster_(cluster),
      layout_(layout),
      ranks_(ranks),
      failures_(failures),
      ops_(static_cast<std::size_t>(ranks * layout.lanes())),
      ended_(static_cast<std::size_t>(ranks)),
      wanted_(sg::Semaphore::create(0)) {}

void Watch::start(std::vector<RankRuntime*> runtimes, sg::Host* service) {
  runtimes_ = std::move(runtimes);
  sg::Actor::create("watchdog", service, [this] { watch(); })->daemonize();
  sg::Engine::on_deadlock_cb([this] {
    if (!failures_.failing()) failures_.note_standstill(deadlock());
  });
}

// One timer for all operations: it sleeps until the oldest of them would be overdue, and sees then whether anybody can
// still move. With nobody else to run, simulated time jumps there at once. While nobody waits for others it rests until
// somebody does, since a timer that ticks for ever is not a run that makes progress.
void Watch::watch() {
  bool quiet = false;
  double looked = -1;
  for (;;) {
    const std::optional<double> oldest = oldest_wait();
    const double since = std::max(oldest.value_or(sg::Engine::get_clock()), looked);
    if (oldest && overdue(since)) {
      if (stands_still()) return failures_.fail(deadlock());
      if (cluster_.timeout > 0) return failures_.fail(timed_out());
      looked = sg::Engine::get_clock();
    } else if (!oldest && quiet) {
      rests_ = true;
      blocking([&] { wanted_->acquire(); });
    } else {
      constexpr double later = std::numeric_limits<double>::infinity();
      blocking([&] {
        sg::this_actor::sleep_until(
            std::max(since + patience(cluster_), std::nextafter(sg::Engine::get_clock(), later)));
      });
    }
    quiet = !oldest && !quiet;
  }
}

// Of a clock that has gone far, a timeout may be less than the last digit.
bool Watch::overdue(double since) const {
  return since + patience(cluster_) <= sg::Engine::get_clock() &&
         sg::Engine::get_clock() - since >= patience(cluster_) / 2;
}

bool Watch::seems_to_stand_still() const {
  int moving = standstill_.moving();
  for (const BlockedOp& op : ops_) {
    if (op.blocked() && op.channel != nullptr && op.number >= op.channel->matched) --moving;
  }
  return moving == 0;
}

// Who was woken in this instant still looks like resting; once time has passed, everybody has run.
bool Watch::stands_still() {
  if (!seems_to_stand_still()) return false;
  constexpr double instant = 1e-3, later = std::numeric_limits<double>::infinity();
  const std::uint64_t before = standstill_.changes();
  blocking([&] {
    sg::this_actor::sleep_until(
        std::max(sg::Engine::get_clock() + instant, std::nextafter(sg::Engine::get_clock(), later)));
  });
  return standstill_.changes() == before && seems_to_stand_still();
}

void Watch::wake() {
  rests_ = false;
  blocking([&] { wanted_->release(); });
}

std::optional<double> Watch::oldest_wait() const {
  std::optional<double> oldest;
  for (int place = 0; place < ranks_ * lanes(); ++place) {
    const BlockedOp& op = ops_[static_cast<std::size_t>(place)];
    if (op.waits_for_others() && !failures_.dead(place / lanes()))
      oldest = std::min(oldest.value_or(op.since), op.since);
  }
  return oldest;
}

std::vector<int> Watch::blocked_lanes() const {
  std::vector<int> blocked;
  for (int place = 0; place < ranks_ * lanes(); ++place) {
    if (ops_[static_cast<std::size_t>(place)].blocked() && !failures_.dead(place / lanes())) blocked.push_back(place);
  }
  const auto since = [&](int place) { return ops_[static_cast<std::size_t>(place)].since; };
  std::stable_sort(blocked.begin(), blocked.end(), [&](int a, int b) { return since(a) < since(b); });
  return blocked;
}

std::string Watch::waiting_lanes(const std::vector<int>& blocked) const {
  constexpr std::size_t lanes_shown = 32;
  std::string text;
  for (std::size_t i = 0; i < std::min(lanes_shown, blocked.size()); ++i)
    text += "\n  " + describe(blocked[i] / lanes(), blocked[i] % lanes());
  if (blocked.size() > lanes_shown) text += "\n  and " + std::to_string(blocked.size() - lanes_shown) + " more";
  return text + ended_ranks();
}

std::string Watch::ended_ranks() const {
  constexpr int shown = 8;
  int count = 0;
  std::string text;
  for (int rank = 0; rank < ranks_; ++rank) {
    if (!ended_[static_cast<std::size_t>(rank)] || ++count > shown) continue;
    text += (count == 1 ? "" : ", ") + std::to_string(rank);
  }
  if (count == 0) return "";
  return "\n  at their end already: rank " + text +
         (count > shown ? " and " + std::to_string(count - shown) + " more" : "");
}

std::exception_ptr Watch::deadlock() const {
  const std::vector<int> blocked = blocked_lanes();
  const double since = blocked.empty() ? sg::Engine::get_clock() : ops_[static_cast<std::size_t>(blocked.back())].since;
  return std::make_exception_ptr(
      BackendError("deadlock at " + seconds_text(since) +
                   " (simulated): no rank can move, and these lanes wait:" + waiting_lanes(blocked)));
}

std::exception_ptr Watch::timed_out() const {
  return std::make_exception_ptr(
      BackendError("timeout at " + seconds_text(sg::Engine::get_clock()) +
                   " (simulated), though ranks could move: cluster.timeout is " + seconds_text(cluster_.timeout) +
                   ", and an operation has lasted that long; give the cluster a longer one, or timeout=0s for none. "
                   "These lanes wait:" +
                   waiting_lanes(blocked_lanes())));
}

std::string Watch::where(int rank, int lane) const {
  const Timeline& timeline = runtimes_[static_cast<std::size_t>(rank)]->lane(lane).timeline;
  const std::string place = timeline.where(), doing = timeline.doing();
  if (place.starts_with("rank ")) return place;
  return "rank " + std::to_string(rank) + ", " + layout_.name_of(lane) + (doing.empty() ? "" : ", " + doing);
}

std::string Watch::describe(int rank, int lane) const {
  const BlockedOp& op = ops_[static_cast<std::size_t>(rank * lanes() + lane)];
  const std::string doing = runtimes_[static_cast<std::size_t>(rank)]->lane(lane).timeline.doing();
  std::string who = where(rank, lane);
  if (!doing.empty()) who.resize(who.size() - doing.size() - 2);  // ", all_reduce"
  const std::string waits = " waits since " + seconds_text(op.since) + " for ";
  if (op.group == nullptr) return who + waits + layout_.name_of(op.lane);
  const bool says_all = doing.empty() || doing.starts_with(op.operation);
  const std::string what = says_all && !doing.empty() ? doing : op.operation;
  return who + ", " + op.group->name() + ": " + what + (says_all ? "" : " (in " + doing + ")") + waits + waited_for(op);
}

std::string Watch::waited_for(const BlockedOp& op) {
  if (op.patient) return "requests";
  if (op.transfers.empty()) return "the other " + std::to_string(op.group->size() - 1) + " ranks";
  const Transfer awaited = op.awaited.value_or(op.transfers.front());
  return text_of(awaited, *op.group) +
         (op.more > 0 ? " and " + text_of_others(op.transfers, awaited, op.more, *op.group) : "");
}

bool Watch::waits_for(const BlockedOp& op, int peer) const {
  if (op.blocked() && op.patient) return !failures_.has_left(peer);
  if (!op.waits_for_others()) return false;
  if (op.transfers.empty()) {
    const auto& members = op.group->members();
    return std::find(members.begin(), members.end(), peer) != members.end();
  }
  return std::any_of(op.transfers.begin(), op.transfers.end(),
                     [&](const Transfer& transfer) { return op.group->member(transfer.peer) == peer; });
}

}  // namespace trigram::sim
