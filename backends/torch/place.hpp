// Where this process stands among those that torch.distributed connects.
#pragma once

#include <string>

#include "backends/process/process_backend.hpp"
#include "backends/torch/network.hpp"

namespace trigram::torch {

struct Place : PlaceInJob {
  std::string host;             ///< on rank 0, by which the others reach it
  std::string listens;          ///< on rank 0, the address or name at which it listens for them
  std::string facts;            ///< for Outcome::facts
  double cause_may_take = 1.5;  ///< seconds in which a rank whose connections break waits to hear why
  double meeting_may_take = 0;  ///< seconds that ranks wait for each other before the first exchange; 0: forever
  /// Ranks go on without one that is gone, where exchanges leave it out: once one is, seconds that they wait for any
  /// other before all messages end. 0: the job ends with any of its ranks.
  double absence_may_take = 0;
};

/// Collective. Waits for others for `seconds`; 0: forever.
Place join(const Network& network, double seconds);

}  // namespace trigram::torch
