#include "backends/sim/disturbances.hpp"

#include <algorithm>

#include "backends/sim/engine/blocking.hpp"
#include "core/values/error.hpp"

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

void Disturbances::start() {
  start_changes();
  start_faults();
  start_background();
}

void Disturbances::start_changes() {
  if (cluster_.changes.empty()) return;
  sg::Actor::create("changes", platform_.service, [this] {
    for (const Change& change : cluster_.changes) {
      const bool of_nic =
          change.quantity == Change::Quantity::nic_bandwidth || change.quantity == Change::Quantity::nic_latency;
      if (change.target >= (of_nic ? nodes() : ranks())) continue;
      blocking([&] { sg::this_actor::sleep_until(change.time); });
      blocking([&] { platform_.apply(change); });
    }
  })->daemonize();
}

void Disturbances::start_faults() {
  for (const Fault& fault : cluster_.faults) {
    if (fault.target >= (fault.part == Fault::Part::gpu ? ranks() : nodes())) continue;
    sg::Actor::create("fault", platform_.service, [this, &fault] {
      blocking([&] { sg::this_actor::sleep_until(fault.time); });
      strike(fault);
    })->daemonize();
  }
}

void Disturbances::strike(const Fault& fault) {
  if (fault.part == Fault::Part::nic) return blocking([&] { platform_.cut_nic(fault.target); });
  const std::vector<int> gone =
      fault.part == Fault::Part::gpu ? std::vector<int>{fault.target} : platform_.ranks_of(fault.target);
  for (const int rank : gone) failures_.mark_dead(rank);
  report_waiting_for(gone);
  if (failures_.failing()) return;
  for (const int rank : gone) blocking([&] { platform_.hosts[static_cast<std::size_t>(rank)]->turn_off(); });
}

// A peer that is gone answers nobody, and SimGrid tells only those whose message is under way.
void Disturbances::report_waiting_for(const std::vector<int>& gone) {
  for (int rank = 0; rank < ranks(); ++rank) {
    if (failures_.dead(rank)) continue;
    for (int lane = 0; lane < lanes_; ++lane) {
      for (const int peer : gone) {
        if (!watch_.waits_for(watch_.op(rank, lane), peer)) continue;
        return failures_.fail(std::make_exception_ptr(
            BackendError(Failures::lost(rank, peer, "the host of rank " + std::to_string(peer) + " failed"))));
      }
    }
  }
}

void Disturbances::start_background() {
  int flows = 0;
  for (const Background& flow : cluster_.background) {
    if (std::max(flow.from, flow.to) >= nodes()) continue;
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
