// The modelled GPU of one rank, which all its lanes share.
#pragma once

#include <simgrid/s4u/Host.hpp>

#include "backends/sim/engine/blocking.hpp"

namespace trigram::sim {

/// Its kernels share it evenly. Where collectives contend for it, its kernels are slower from the moment at which the
/// rank enters one, on whatever lane, until it is in none: those of a communication library hold processors and
/// bandwidth of memory, also while they wait.
class Gpu final : public Unsettled {
 public:
  /// A host that is contended for has two speeds, the slower one second.
  Gpu(simgrid::s4u::Host* host, bool contended) : host_(host), contended_(contended) {}

  /// Blocks this lane for a kernel of so many seconds at full speed.
  void compute(double seconds);
  /// Takes the speed that it should have. What enters one collective as it leaves another changes none.
  void settle() override;

  /// Seconds with a kernel to run since the last call, or since the start.
  double take_busy_seconds();

  /// While it lives, the rank is in a collective, or an exchange of its own.
  class InCollective {
   public:
    explicit InCollective(Gpu& gpu) : gpu_(gpu) { gpu_.add(1); }
    ~InCollective() { gpu_.add(-1); }
    InCollective(const InCollective&) = delete;
    InCollective& operator=(const InCollective&) = delete;

   private:
    Gpu& gpu_;
  };

 private:
  void add(int collectives) {
    collectives_ += collectives;
    if (contended_) unsettled().push_back(this);
  }

  simgrid::s4u::Host* host_;
  bool contended_;
  int computing_ = 0, collectives_ = 0;
  double busy_ = 0, busy_since_ = 0;
  unsigned long speed_ = 0;
};

}  // namespace trigram::sim
