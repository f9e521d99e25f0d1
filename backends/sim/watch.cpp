// What keeps a simulation from hanging: the watchdog, planned faults and changes, and foreign traffic.
#include <algorithm>

#include "backends/sim/blocking.hpp"
#include "backends/sim/group.hpp"
#include "backends/sim/runtime.hpp"
#include "backends/sim/simulation.hpp"
#include "core/error.hpp"

namespace trigram::sim {

namespace sg = simgrid::s4u;

namespace {

/// Endless for any simulation: a century at 300 GB/s.
constexpr std::uint64_t endless_bytes = 1'000'000'000'000'000'000U;

/// Waits for traffic that ends with its links, or never.
void wait_out(sg::Comm& comm) {
  try {
    blocking([&] { comm.wait(); });
  } catch (const simgrid::Exception&) {
    return;  // a link failed: there is no such traffic any more
  }
}

}  // namespace

void Simulation::start_watchdog() {
  sg::Actor::create("watchdog", platform_.service, [this] { watch(); })->daemonize();
}

// One timer for all operations: it sleeps until the oldest of them would be overdue. With nobody else to run,
// simulated time jumps there at once; so a deadlock shows as operations that are overdue.
void Simulation::watch() {
  for (;;) {
    blocking([&] { sg::this_actor::sleep_until(oldest_deadline()); });
    std::exception_ptr error;
    try {
      if (oldest_deadline() <= now()) throw_if_stuck();
    } catch (const BackendError&) {
      error = remembered_ ? remembered_ : std::current_exception();
    }
    if (!error) continue;
    fail(error);
    return;
  }
}

double Simulation::oldest_deadline() const {
  double oldest = now();
  for (const Station& station : stations_) {
    if (station.blocked()) oldest = std::min(oldest, station.since);
  }
  return oldest + cluster_.timeout;
}

void Simulation::throw_if_stuck() const {
  std::size_t oldest = stations_.size();
  std::size_t count = 0;
  for (std::size_t i = 0; i < stations_.size(); ++i) {
    if (!stations_[i].blocked()) continue;
    ++count;
    if (oldest == stations_.size() || stations_[i].since < stations_[oldest].since) oldest = i;
  }
  if (oldest == stations_.size())
    throw BackendError("deadlock at " + seconds_text(now()) + " (simulated): ranks wait without an operation");
  throw BackendError(describe(static_cast<int>(oldest) / lanes_, static_cast<int>(oldest) % lanes_) +
                     ", longer than the timeout of " + seconds_text(cluster_.timeout) + "; " + std::to_string(count) +
                     " lanes are blocked: a deadlock, or a peer that never answers");
}

std::string Simulation::describe(int rank, int lane) const {
  const Station& station = stations_[static_cast<std::size_t>(rank * lanes_ + lane)];
  std::string text = "at " + seconds_text(now()) + " (simulated) rank " + std::to_string(rank) + " waits in " +
                     station.operation + " since " + seconds_text(station.since);
  if (station.transfers.empty()) return text + " for ranks of its group of " + std::to_string(station.group->size());
  const Transfer& first = station.transfers.front();
  text += (first.direction == Transfer::Direction::send ? " to send to rank " : " to receive from rank ") +
          std::to_string(station.group->member(first.peer));
  if (station.transfers.size() > 1) text += " (first of " + std::to_string(station.transfers.size()) + " messages)";
  return text;
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
    for (int lane = 0; lane < lanes_; ++lane) {
      for (const int peer : gone) {
        if (!waits_for(station(rank, lane), peer)) continue;
        return fail(std::make_exception_ptr(
            BackendError(lost(rank, peer, "the host of rank " + std::to_string(peer) + " failed"))));
      }
    }
  }
}

bool Simulation::waits_for(const Station& station, int peer) const {
  if (!station.blocked()) return false;
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
