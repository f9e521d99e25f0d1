#include "backends/sim/gpu.hpp"

#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Engine.hpp>
#include <utility>

#include "backends/sim/platform/platform.hpp"

namespace trigram::sim {

void Gpu::compute(double seconds) {
  if (computing_++ == 0) busy_since_ = simgrid::s4u::Engine::get_clock();
  settle();
  blocking([seconds] { simgrid::s4u::this_actor::execute(seconds * work_per_second); });
  if (--computing_ == 0) busy_ += simgrid::s4u::Engine::get_clock() - busy_since_;
}

double Gpu::take_busy_seconds() {
  const double now = simgrid::s4u::Engine::get_clock();
  if (computing_ > 0) busy_ += now - std::exchange(busy_since_, now);
  return std::exchange(busy_, 0);
}

// A GPU on which nothing runs takes its speed when something does: a ring of many rounds changes it in none of them.
void Gpu::settle() {
  const unsigned long wanted = collectives_ > 0 ? 1 : 0;
  if (!contended_ || computing_ == 0 || speed_ == wanted) return;
  speed_ = wanted;
  blocking([this] { host_->set_pstate(speed_); });
}

}  // namespace trigram::sim
