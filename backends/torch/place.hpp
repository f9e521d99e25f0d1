// Where this process stands among those that torch.distributed connects.
#pragma once

#include <string>
#include <vector>

#include "backends/torch/transport.hpp"

namespace trigram::torch {

struct Place {
  int rank = 0;
  std::vector<int> nodes;  ///< by rank
  std::string host;        ///< on rank 0, by which the others reach it
  std::string listens;     ///< on rank 0, the address or name at which it listens for them
  std::string facts;       ///< for Outcome::facts

  int ranks() const { return static_cast<int>(nodes.size()); }
};

/// Collective. Waits for others for `seconds`; 0: forever.
Place join(const Transport& transport, double seconds);

}  // namespace trigram::torch
