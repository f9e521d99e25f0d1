// Collectives by the MPI library instead of by exchange.
#pragma once

#include "backends/mpi/communicator.hpp"

namespace trigram::mpi {

/// Every collective is MPI's, in its nonblocking form so that the watchdog sees it. Sums are added in the library's
/// order: results are equal on all ranks, but not bit for bit those of other backends. A reduction that
/// MPI has no type for (f16, bf16) or cannot count (2^31 elements) falls back on the implementation by exchange;
/// another collective of 2^31 bytes is a UsageError.
class VendorCommunicator final : public MpiCommunicator {
 public:
  using MpiCommunicator::MpiCommunicator;

  bool performs(const CollectiveCall& call) override;
  void perform(const CollectiveCall& call) override;

 protected:
  std::unique_ptr<Communicator> make_part(std::string name, const std::vector<int>& members, int part) override;

 private:
  void all_reduce(const CollectiveCall& call);
  void reduce_scatter(const CollectiveCall& call);
  void all_gather(const CollectiveCall& call);
  void all_gather_parts(const CollectiveCall& call);
  void all_to_all(const CollectiveCall& call);
  void broadcast(const CollectiveCall& call);
  void reduce(const CollectiveCall& call);
  void gather(const CollectiveCall& call);
  void scatter(const CollectiveCall& call);
  void barrier();
};

}  // namespace trigram::mpi
