// What SimGrid's versions call differently: 3.32 is Debian 12's, 4.0 Debian 13's.
#pragma once

#include <simgrid/version.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <simgrid/Exception.hpp>
#include <simgrid/s4u.hpp>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#if SIMGRID_VERSION < 40000
#include <simgrid/kernel/resource/NetworkModelIntf.hpp>
#include <simgrid/simix.hpp>
#else
#include <simgrid/simcall.hpp>
#endif

namespace trigram::sim {

/// A star of hosts and zones, of which all others are parts.
inline simgrid::s4u::NetZone* outermost_star(const std::string& name) {
#if SIMGRID_VERSION < 40000
  return simgrid::s4u::create_star_zone(name);
#else
  return simgrid::s4u::Engine::get_instance()->get_netzone_root()->add_netzone_star(name);
#endif
}

/// A star that is a part of another one.
inline simgrid::s4u::NetZone* inner_star(simgrid::s4u::NetZone* outer, const std::string& name) {
#if SIMGRID_VERSION < 40000
  return simgrid::s4u::create_star_zone(name)->set_parent(outer);
#else
  return outer->add_netzone_star(name);
#endif
}

/// What multiplies the latency of a route that a message of so many bytes takes.
using LatencyFactor = std::function<double(double bytes, const simgrid::s4u::Host* from, const simgrid::s4u::Host* to,
                                           const std::vector<simgrid::s4u::Link*>& links,
                                           const std::unordered_set<simgrid::s4u::NetZone*>& zones)>;

/// Has all messages below `root`, which is not sealed yet, pay that factor.
inline void set_latency_factor(simgrid::s4u::NetZone* root, const LatencyFactor& factor) {
#if SIMGRID_VERSION < 40000
  root->get_network_model()->set_lat_factor_cb(factor);
#else
  root->set_latency_factor_cb(factor);
#endif
}

/// Starts each `posted.comm` that is not null, in the actor that posted them. 3.32 does it at one visit to SimGrid,
/// since each visit has the actor's stack leave the cache and come back; 4.0 wants to be told who sends by the actor
/// that runs.
template <class Posted>
void start_all(std::span<Posted> posted) {
  const auto start = [&](auto&& how) {
    for (Posted& one : posted) {
      if (one.comm != nullptr) how(*one.comm);
    }
  };
#if SIMGRID_VERSION < 40000
  simgrid::kernel::actor::simcall_answered([&] { start([](simgrid::s4u::Comm& comm) { comm.vetoable_start(); }); });
#else
  start([](simgrid::s4u::Comm& comm) { comm.start(); });
#endif
}

/// Seconds from now until then, as SimGrid wants them: below 0 for a wait without an end.
inline double seconds_until(double second) {
  if (second == std::numeric_limits<double>::infinity()) return -1;
  return std::max(0.0, second - simgrid::s4u::Engine::get_clock());
}

/// Waits for the end of a message, without the timer of this host that `Comm::wait` has SimGrid run beside each; false
/// where it has not ended at that second. Throws SimGrid's exception where it failed.
inline bool wait_for(const simgrid::s4u::CommPtr& comm, double second) {
  const double timeout = seconds_until(second);
#if SIMGRID_VERSION < 40000
  const std::vector<simgrid::s4u::ActivityPtr> awaited{comm};
  return simgrid::s4u::Activity::wait_any_for(awaited, timeout) >= 0;
#else
  try {
    simgrid::s4u::ActivitySet({comm}).wait_any_for(timeout);
    return true;
  } catch (const simgrid::TimeoutException&) {
    return false;
  }
#endif
}

/// Waits until one of these messages has ended, and returns its index. Throws SimGrid's exception where one failed.
inline std::size_t wait_for_any(const std::vector<simgrid::s4u::CommPtr>& comms) {
#if SIMGRID_VERSION < 40000
  return static_cast<std::size_t>(simgrid::s4u::Comm::wait_any(comms));
#else
  simgrid::s4u::ActivitySet waited({comms.begin(), comms.end()});
  const simgrid::s4u::ActivityPtr ended = waited.wait_any();
  std::size_t index = 0;
  while (comms[index].get() != ended.get()) ++index;
  return index;
#endif
}

/// Takes one of a semaphore; false at that second.
inline bool acquire_until(const simgrid::s4u::SemaphorePtr& semaphore, double second) {
  const double timeout = seconds_until(second);
  if (timeout >= 0) return !semaphore->acquire_timeout(timeout);
  semaphore->acquire();
  return true;
}

}  // namespace trigram::sim
