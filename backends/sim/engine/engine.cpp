#include "backends/sim/engine/engine.hpp"

#include <xbt/log.h>

#include <simgrid/s4u.hpp>

namespace trigram::sim {

namespace {

/// Beyond so many actors, guard pages of their stacks would exceed the kernel's number of memory maps.
constexpr std::int64_t guarded_actors = 25000;

}  // namespace

void start_engine(std::int64_t actors) {
  xbt_log_control_set("root.thresh:critical");
  simgrid::s4u::Engine::set_config("contexts/factory:raw");
  new simgrid::s4u::Engine("trigram");  // lives as long as its process
  for (const char* setting :
       {"network/model:CM02", "network/crosstraffic:0", "network/TCP-gamma:1e20", "surf/precision:1e-12"}) {
    simgrid::s4u::Engine::set_config(setting);
  }
  simgrid::s4u::Engine::set_config("contexts/stack-size:" + std::to_string(stack_bytes / 1024));
  if (actors > guarded_actors) simgrid::s4u::Engine::set_config("contexts/guard-size:0");
}

}  // namespace trigram::sim
