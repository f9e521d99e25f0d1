#include "backends/sim/gpu.hpp"

#include <simgrid/s4u/Actor.hpp>

#include "backends/sim/platform.hpp"

namespace trigram::sim {

void Gpu::compute(double seconds) {
  ++computing_;
  settle();
  blocking([seconds] { simgrid::s4u::this_actor::execute(seconds * work_per_second); });
  --computing_;
}

// A GPU on which nothing runs takes its speed when something does: a ring of many rounds changes it in none of them.
void Gpu::settle() {
  const unsigned long wanted = collectives_ > 0 ? 1 : 0;
  if (!contended_ || computing_ == 0 || speed_ == wanted) return;
  speed_ = wanted;
  blocking([this] { host_->set_pstate(speed_); });
}

}  // namespace trigram::sim
