// Bytes of the host between processes of MPI.
#pragma once

#include "backends/mpi/communicator.hpp"
#include "processes/host_group.hpp"

namespace trigram::mpi {

/// One rank's end, on communicators of its own; metered nowhere.
class MpiHostGroup final : public HostGroup {
 public:
  /// Collective. Calls with any patience wait for `timeout` seconds, so that whoever waits says with what all are busy
  /// as lanes do, before these give up.
  MpiHostGroup(double timeout, Failure& failure);

  int rank() const override { return watched_.rank(); }
  int ranks() const override { return watched_.size(); }
  Parts all_gather(const Bytes& own, Patience patience) override;
  Parts gather(const Bytes& own, Patience patience) override;

 private:
  Communicator& for_patience(Patience patience) { return patience.seconds > 0 ? watched_ : patient_; }
  static Parts room_for_parts(Communicator& comm, const Bytes& own);

  Timeline timeline_;
  Device device_;
  MpiCommunicator watched_;
  MpiCommunicator patient_;
};

}  // namespace trigram::mpi
