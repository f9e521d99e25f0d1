// Collectives of host bytes between all ranks of a job, beside the communication of training.
#pragma once

#include <vector>

#include "core/world/bytes.hpp"

namespace trigram {

/// A timeout: how long a call waits for other ranks, in seconds; 0: forever.
struct Patience {
  double seconds = 0;
};

/// One rank's end. Gathers and barriers are collective, in the same order on all ranks, from one thread; they throw
/// BackendError when a rank has failed or does not come in time, naming those that are missing.
class HostGroup {
 public:
  using Parts = std::vector<Bytes>;
  virtual ~HostGroup() = default;

  virtual int rank() const = 0;
  virtual int ranks() const = 0;
  /// The bytes of all ranks on every rank, in rank order.
  virtual Parts all_gather(const Bytes& own, Patience patience) = 0;
  /// The bytes of all ranks on rank 0; nothing elsewhere.
  virtual Parts gather(const Bytes& own, Patience patience) = 0;
  void barrier(Patience patience) { all_gather({}, patience); }
};

}  // namespace trigram
