// What keeps a simulation from hanging: the watchdog, planned faults and changes, and foreign traffic.
#include <algorithm>
#include <cmath>

#include "backends/sim/communicator/group.hpp"
#include "backends/sim/engine/blocking.hpp"
#include "backends/sim/simulation.hpp"
#include "core/values/error.hpp"

namespace trigram::sim {

namespace sg = simgrid::s4u;

namespace {

/// Endless for any simulation: a century at 300 GB/s.
constexpr std::uint64_t endless_bytes = 1'000'000'000'000'000'000U;

/// How long an operation lasts before somebody looks whether it can still end.
double patience(const Cluster& cluster) {
  constexpr double hour = 3600;
  return cluster.timeout > 0 ? cluster.timeout : hour;
}

/// Waits for traffic that ends with its links, or never.
void wait_out(sg::Comm& comm) {
  try {
    blocking([&] { comm.wait(); });
  } catch (const simgrid::Exception&) {
    return;  // a link failed: there is no such traffic any more
  }
}

/// "a send of 8 bytes to rank 3".
std::string text_of(const Transfer& message, const Group& group) {
  const bool sends = message.direction == Transfer::Direction::send;
  return std::string(sends ? "a send" : "a receive") + " of " + std::to_string(message.buffer.modelled_bytes()) +
         " bytes " + (sends ? "to" : "from") + " rank " + std::to_string(group.member(message.peer));
}

/// So many of an exchange's messages but the one that is awaited: the wrong peer may be in any, so few are left out.
std::string text_of_others(std::span<const Transfer> all, const Transfer& awaited, std::size_t open,
                           const Group& group) {
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

void Simulation::start_watchdog() {
  sg::Actor::create("watchdog", platform_.service, [this] { watch(); })->daemonize();
}

// One timer for all operations: it sleeps until the oldest of them would be overdue, and sees then whether anybody can
// still move. With nobody else to run, simulated time jumps there at once. While nobody waits for others it rests until
// somebody does, since a timer that ticks for ever is not a run that makes progress.
void Simulation::watch() {
  bool quiet = false;
  double looked = -1;
  for (;;) {
    const std::optional<double> oldest = oldest_wait();
    const double since = std::max(oldest.value_or(now()), looked);
    if (oldest && overdue(since)) {
      if (stands_still()) return fail(deadlock());
      if (cluster_.timeout > 0) return fail(timed_out());
      looked = now();
    } else if (!oldest && quiet) {
      watch_rests_ = true;
      blocking([&] { watch_wanted_->acquire(); });
    } else {
      constexpr double later = std::numeric_limits<double>::infinity();
      blocking(
          [&] { sg::this_actor::sleep_until(std::max(since + patience(cluster_), std::nextafter(now(), later))); });
    }
    quiet = !oldest && !quiet;
  }
}

// Of a clock that has gone far, a timeout may be less than the last digit.
bool Simulation::overdue(double since) const {
  return since + patience(cluster_) <= now() && now() - since >= patience(cluster_) / 2;
}

bool Simulation::seems_to_stand_still() const {
  int moving = standstill_.moving();
  for (const Station& station : stations_) {
    if (station.blocked() && station.channel != nullptr && station.number >= station.channel->matched) --moving;
  }
  return moving == 0;
}

// Who was woken in this instant still looks like resting; once time has passed, everybody has run.
bool Simulation::stands_still() {
  if (!seems_to_stand_still()) return false;
  constexpr double instant = 1e-3, later = std::numeric_limits<double>::infinity();
  const std::uint64_t before = standstill_.changes();
  blocking([&] { sg::this_actor::sleep_until(std::max(now() + instant, std::nextafter(now(), later))); });
  return standstill_.changes() == before && seems_to_stand_still();
}

void Simulation::wake_watch() {
  watch_rests_ = false;
  blocking([&] { watch_wanted_->release(); });
}

std::optional<double> Simulation::oldest_wait() const {
  std::optional<double> oldest;
  for (int place = 0; place < ranks() * lanes(); ++place) {
    const Station& station = stations_[static_cast<std::size_t>(place)];
    if (station.waits_for_others() && !dead(place / lanes()))
      oldest = std::min(oldest.value_or(station.since), station.since);
  }
  return oldest;
}

std::vector<int> Simulation::blocked_lanes() const {
  std::vector<int> blocked;
  for (int place = 0; place < ranks() * lanes(); ++place) {
    if (stations_[static_cast<std::size_t>(place)].blocked() && !dead(place / lanes())) blocked.push_back(place);
  }
  const auto since = [&](int place) { return stations_[static_cast<std::size_t>(place)].since; };
  std::stable_sort(blocked.begin(), blocked.end(), [&](int a, int b) { return since(a) < since(b); });
  return blocked;
}

std::string Simulation::waiting_lanes(const std::vector<int>& blocked) const {
  constexpr std::size_t lanes_shown = 32;
  std::string text;
  for (std::size_t i = 0; i < std::min(lanes_shown, blocked.size()); ++i)
    text += "\n  " + describe(blocked[i] / lanes(), blocked[i] % lanes());
  if (blocked.size() > lanes_shown) text += "\n  and " + std::to_string(blocked.size() - lanes_shown) + " more";
  return text + ended_ranks();
}

std::string Simulation::ended_ranks() const {
  constexpr int shown = 8;
  int count = 0;
  std::string text;
  for (int rank = 0; rank < ranks(); ++rank) {
    if (!ended_[static_cast<std::size_t>(rank)] || ++count > shown) continue;
    text += (count == 1 ? "" : ", ") + std::to_string(rank);
  }
  if (count == 0) return "";
  return "\n  at their end already: rank " + text +
         (count > shown ? " and " + std::to_string(count - shown) + " more" : "");
}

std::exception_ptr Simulation::deadlock() const {
  const std::vector<int> blocked = blocked_lanes();
  const double since = blocked.empty() ? now() : stations_[static_cast<std::size_t>(blocked.back())].since;
  return std::make_exception_ptr(
      BackendError("deadlock at " + seconds_text(since) +
                   " (simulated): no rank can move, and these lanes wait:" + waiting_lanes(blocked)));
}

std::exception_ptr Simulation::timed_out() const {
  return std::make_exception_ptr(
      BackendError("timeout at " + seconds_text(now()) + " (simulated), though ranks could move: cluster.timeout is " +
                   seconds_text(cluster_.timeout) +
                   ", and an operation has lasted that long; give the cluster a longer one, or timeout=0s for none. "
                   "These lanes wait:" +
                   waiting_lanes(blocked_lanes())));
}

std::string Simulation::where(int rank, int lane) const {
  const Timeline& timeline = runtimes_[static_cast<std::size_t>(rank)]->lane(lane).timeline;
  const std::string place = timeline.where(), doing = timeline.doing();
  if (place.starts_with("rank ")) return place;
  return "rank " + std::to_string(rank) + ", " + layout_.name_of(lane) + (doing.empty() ? "" : ", " + doing);
}

std::string Simulation::describe(int rank, int lane) const {
  const Station& station = stations_[static_cast<std::size_t>(rank * lanes() + lane)];
  const std::string doing = runtimes_[static_cast<std::size_t>(rank)]->lane(lane).timeline.doing();
  std::string who = where(rank, lane);
  if (!doing.empty()) who.resize(who.size() - doing.size() - 2);  // ", all_reduce"
  const std::string waits = " waits since " + seconds_text(station.since) + " for ";
  if (station.group == nullptr) return who + waits + layout_.name_of(station.lane);
  const bool says_all = doing.empty() || doing.starts_with(station.operation);
  const std::string what = says_all && !doing.empty() ? doing : station.operation;
  return who + ", " + station.group->name() + ": " + what + (says_all ? "" : " (in " + doing + ")") + waits +
         waited_for(station);
}

std::string Simulation::waited_for(const Station& station) {
  if (station.patient) return "requests";
  if (station.transfers.empty()) return "the other " + std::to_string(station.group->size() - 1) + " ranks";
  const Transfer awaited = station.awaited.value_or(station.transfers.front());
  return text_of(awaited, *station.group) +
         (station.more > 0 ? " and " + text_of_others(station.transfers, awaited, station.more, *station.group) : "");
}

void Simulation::start_events() {
  if (!cluster_.changes.empty()) {
    sg::Actor::create("changes", platform_.service, [this] {
      for (const Change& change : cluster_.changes) {
        const bool of_nic =
            change.quantity == Change::Quantity::nic_bandwidth || change.quantity == Change::Quantity::nic_latency;
        if (change.target >= (of_nic ? platform_.node_of_rank.back() + 1 : ranks())) continue;
        blocking([&] { sg::this_actor::sleep_until(change.time); });
        blocking([&] { platform_.apply(change); });
      }
    })->daemonize();
  }
  for (const Fault& fault : cluster_.faults) {
    if (fault.target >= (fault.part == Fault::Part::gpu ? ranks() : platform_.node_of_rank.back() + 1)) continue;
    sg::Actor::create("fault", platform_.service, [this, &fault] {
      blocking([&] { sg::this_actor::sleep_until(fault.time); });
      strike(fault);
    })->daemonize();
  }
}

void Simulation::strike(const Fault& fault) {
  if (fault.part == Fault::Part::nic) return blocking([&] { platform_.cut_nic(fault.target); });
  const std::vector<int> gone =
      fault.part == Fault::Part::gpu ? std::vector<int>{fault.target} : platform_.ranks_of(fault.target);
  for (const int rank : gone) bury(rank);
  report_waiting_for(gone);
  if (failing()) return;
  for (const int rank : gone) blocking([&] { platform_.hosts[static_cast<std::size_t>(rank)]->turn_off(); });
}

// A peer that is gone answers nobody, and SimGrid tells only those whose message is under way.
void Simulation::report_waiting_for(const std::vector<int>& gone) {
  for (int rank = 0; rank < ranks(); ++rank) {
    if (dead(rank)) continue;
    for (int lane = 0; lane < lanes(); ++lane) {
      for (const int peer : gone) {
        if (!waits_for(station(rank, lane), peer)) continue;
        return fail(std::make_exception_ptr(
            BackendError(lost(rank, peer, "the host of rank " + std::to_string(peer) + " failed"))));
      }
    }
  }
}

bool Simulation::waits_for(const Station& station, int peer) const {
  if (station.blocked() && station.patient) return !left_[static_cast<std::size_t>(peer)];
  if (!station.waits_for_others()) return false;
  if (station.transfers.empty()) {
    const auto& members = station.group->members();
    return std::find(members.begin(), members.end(), peer) != members.end();
  }
  return std::any_of(station.transfers.begin(), station.transfers.end(),
                     [&](const Transfer& transfer) { return station.group->member(transfer.peer) == peer; });
}

void Simulation::start_background() {
  const int nodes = platform_.node_of_rank.back() + 1;
  int flows = 0;
  for (const Background& flow : cluster_.background) {
    if (std::max(flow.from, flow.to) >= nodes) continue;
    sg::Host* from = platform_.hosts[static_cast<std::size_t>(platform_.ranks_of(flow.from).front())];
    sg::Host* to = platform_.hosts[static_cast<std::size_t>(platform_.ranks_of(flow.to).front())];
    sg::Mailbox* mailbox = sg::Mailbox::by_name("background " + std::to_string(flows++));
    sg::Actor::create("sender", from, [mailbox, rate = flow.rate] {
      static char nothing;
      const sg::CommPtr comm = mailbox->put_init(&nothing, endless_bytes);
      if (rate > 0) comm->set_rate(rate);
      wait_out(*comm);
    })->daemonize();
    sg::Actor::create("receiver", to, [mailbox] {
      void* nothing = nullptr;
      const sg::CommPtr comm = mailbox->get_async<void>(&nothing);
      wait_out(*comm);
    })->daemonize();
  }
}

}  // namespace trigram::sim
