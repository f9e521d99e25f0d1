// The modelled GPU of one rank, which all its lanes share.
#pragma once

#include <simgrid/s4u/Host.hpp>

namespace trigram::sim {

/// Its kernels share it evenly. Where collectives contend for it, its kernels are slower from the moment at which the
/// rank enters one, on whatever lane, until it is in none: those of a communication library hold processors and
/// bandwidth of memory, also while they wait.
class Gpu {
 public:
  /// A host that is contended for has two speeds, the slower one second.
  Gpu(simgrid::s4u::Host* host, bool contended) : host_(host), contended_(contended) {}

  /// Blocks this lane for a kernel of so many seconds at full speed.
  void compute(double seconds);

  /// While it lives, the rank is in a collective, or an exchange of its own.
  class InCollective {
   public:
    explicit InCollective(Gpu& gpu);
    ~InCollective();
    InCollective(const InCollective&) = delete;
    InCollective& operator=(const InCollective&) = delete;

   private:
    Gpu& gpu_;
  };

 private:
  void adapt();

  simgrid::s4u::Host* host_;
  bool contended_;
  int computing_ = 0, collectives_ = 0;
  unsigned long speed_ = 0;
};

inline Gpu::InCollective::InCollective(Gpu& gpu) : gpu_(gpu) {
  ++gpu_.collectives_;
  if (gpu_.contended_) gpu_.adapt();
}

}  // namespace trigram::sim
