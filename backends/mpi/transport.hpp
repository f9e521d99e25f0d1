// A rank's end of MPI, for one run.
#pragma once

#include "backends/mpi/endings.hpp"
#include "backends/mpi/host_group.hpp"
#include "backends/mpi/messages/mail.hpp"
#include "backends/process/transport.hpp"

namespace trigram::mpi {

/// Communicators are MPI's own, made before training starts. A rank that fails ends its process, and that the job.
class MpiTransport final : public Transport {
 public:
  /// `timeout`: seconds that one operation may wait; 0: forever.
  MpiTransport(bool vendor_collectives, double timeout);

  HostGroup& host() override { return host_; }
  std::shared_ptr<Kernels> kernels() override;
  std::unique_ptr<Communicator> communicator(int lane, const RankPartition& partition,
                                             const std::shared_ptr<LaneContext>& context) override;
  Mail& mail() override { return mail_; }
  Endings* endings() override { return &endings_; }
  void mark_lost() noexcept override;

 private:
  bool vendor_collectives_;
  MpiHostGroup host_;
  MpiMail mail_;
  ToldEndings endings_;
};

}  // namespace trigram::mpi
